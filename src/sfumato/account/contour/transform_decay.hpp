#pragma once

#include "sfumato/account/contour/real_grid.hpp"
#include "sfumato/account/contour/split_point.hpp"

namespace sfumato {

struct DecayBound {
  double
      log_ratio;  ///< log of sup |M(s0 + iy)| / M(s0) over y >= reach, at most; 0 where no decay is known
  double points;  ///< that were computed for it
};

/// For losses of a normal z, the best of several lines parallel to the real axis (Theorem T of Spec §18.3), with the errors of its own
/// quadrature; lines are tried until the bound is below `enough`. `here` is the cumulant of the step at s0.
[[nodiscard]] DecayBound log_bound_beyond(const RatioStep& step, const StepCumulant& here,
                                          double s0, double reach, double enough);

/// The same for what a cut leaves to the sampled steps, |B(s0 + iy)| / M(s0) (Spec §18.5).
[[nodiscard]] DecayBound log_sampled_beyond(const RatioStep& step, const SplitPoint& cut,
                                            const SplitCumulant& here, double s0, double reach,
                                            double enough);

}  // namespace sfumato
