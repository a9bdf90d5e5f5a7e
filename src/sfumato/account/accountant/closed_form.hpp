#pragma once

#include <optional>

#include "sfumato/account/contour/contour.hpp"
#include "sfumato/account/contour/total_loss.hpp"

namespace sfumato {

/// log delta(eps) where it needs no contour (Spec §17.6): an infinite eps, no steps that sample, an eps beyond the largest loss, and
/// one step alone, by the closed form where it keeps its digits and by the distribution functions of its loss. Of one step the answer
/// may be wide: a contour may then know better. For a loss without failure and shift.
///
/// Throws   InternalError if the two exclude each other.
[[nodiscard]] std::optional<LogEnclosure> closed_form_delta(const TotalLoss& loss, double eps);

}  // namespace sfumato
