#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sfumato/lab/ledger/trial.hpp"

namespace sfumato::lab {

/// Finished trials as bytes, for processes of one build on machines of one kind. Every bit is kept.
[[nodiscard]] std::string pack_trials(const std::vector<TrialResult>& trials);

/// Throws   InternalError if the bytes are not what pack_trials() gave.
[[nodiscard]] std::vector<TrialResult> unpack_trials(std::string_view bytes);

/// SHA-256 of everything a trial is. NaNs count as equal, and so do zeros of either sign: a database keeps
/// neither difference.
[[nodiscard]] std::string trial_digest(const TrialResult& trial);

}  // namespace sfumato::lab
