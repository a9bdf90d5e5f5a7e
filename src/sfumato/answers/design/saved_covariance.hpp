#pragma once

#include <optional>

#include "sfumato/answers/design/answer.hpp"
#include "sfumato/data/covariance_file.hpp"

namespace sfumato {

/// The covariance as a file that other commands take, with its provenance; none of a frontier.
[[nodiscard]] std::optional<CovarianceFile> covariance_of(const DesignAnswer& answer);

}  // namespace sfumato
