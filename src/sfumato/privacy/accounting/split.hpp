#pragma once

#include <optional>

#include "sfumato/privacy/accounting/contour.hpp"

namespace sfumato {

/// delta(eps) where hits are rare (Spec §18.5). With few expected hits the loss is nearly 0 with large probability, and
/// the sum over a plain contour cancels. M = A + B, cut smoothly between the bulk of the losses and those of a hit:
///
///   delta(eps) = I[ prod M^k - prod A^k ] + delta_A,    0 <= delta_A <= a Chernoff bound of A
///
/// I is the integral of contour_delta(); what is in brackets is the transform of a positive measure, so that its aliases are positive too.
///
/// Returns  nothing for ledgers with steps in the direction `add`, whose loss is bounded, for those without sampled steps, and where no
///          cut is good or the work would be too large.
[[nodiscard]] std::optional<LogEnclosure> split_delta(const TotalLoss& loss, double eps,
                                                      double work = kContourWork);

}  // namespace sfumato
