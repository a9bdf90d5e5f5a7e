#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sfumato/study/ledger/trial.hpp"

namespace sfumato {

/// Finished trials as bytes, for processes of one build on machines of one kind. Every bit is kept.
[[nodiscard]] std::string pack_trials(const std::vector<TrialResult>& trials);

/// Throws   InternalError if the bytes are not what pack_trials() gave.
[[nodiscard]] std::vector<TrialResult> unpack_trials(std::string_view bytes);

}  // namespace sfumato
