#pragma once

#include <optional>

#include "sfumato/data/covariance_file.hpp"
#include "sfumato/data/keys/key.hpp"
#include "sfumato/design/design_answer.hpp"
#include "sfumato/design/design_question.hpp"

namespace sfumato {

/// The covariance as a file that other commands take, with its provenance; none of a frontier.
[[nodiscard]] std::optional<CovarianceFile> covariance_of(const DesignAnswer& answer);

[[nodiscard]] const Keys<DesignQuestion>& design_keys();

}  // namespace sfumato
