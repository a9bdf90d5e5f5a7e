#pragma once

#include <optional>

#include "sfumato/privacy/accounting/contour.hpp"
#include "sfumato/privacy/accounting/total_loss.hpp"

namespace sfumato {

/// log delta(eps) where it needs no contour (Spec §17.6): an infinite eps, no steps that sample, an eps beyond the largest loss, and
/// one step alone, where the closed form keeps its digits. For a loss without failure and shift.
[[nodiscard]] std::optional<LogEnclosure> edge_delta(const TotalLoss& loss, double eps);

}  // namespace sfumato
