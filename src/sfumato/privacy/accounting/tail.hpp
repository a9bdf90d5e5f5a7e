#pragma once

#include "sfumato/privacy/accounting/profile.hpp"

namespace sfumato {

/// P(T > eps) and Q(T > eps): true and false positive rate of the best test that accuses where the loss exceeds eps (Spec §19.1).
struct TailEnclosure {
  LogEnclosure p;
  LogEnclosure q;
};

/// From delta(eps) = P(T > eps) - e^eps Q(T > eps), which is convex in x = e^eps with the slope -Q(T > eps) to the right (Spec §17.5): secants
/// to both sides enclose the slope. What is disclosed (TotalLoss::log_survival) counts as T = +inf.
///
/// Throws   as delta_of().
[[nodiscard]] TailEnclosure tail_of(const TotalLoss& loss, double eps);

}  // namespace sfumato
