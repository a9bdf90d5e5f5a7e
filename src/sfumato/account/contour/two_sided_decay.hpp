#pragma once

#include "sfumato/account/contour/decay.hpp"

namespace sfumato {

/// Of batches of fixed size, whose loss is 0 with probability a0 and has a density f with f(l) = 0 beyond its tails otherwise. With the tilt,
///
///   |M(s0 + iy)| <= a0 + (f(0-) + f(0+) + variation of f) / y,
///
/// and f has at most two peaks on either side: log f is -(z + m)^2 / 2 + p log r(z) up to a constant, p = 2 + s0 or 1 - s0, whose
/// slope is a logistic curve less a line and vanishes at most three times. From far out that is enough; nearer to the axis |M| is
/// computed along the line, in steps within which it cannot rise above the bound, since |dM/dy| <= E |L| e^{s0 L} (Spec §18.3).
[[nodiscard]] DecayBound log_bound_beyond(const TwoSidedGaussian& step, const StepCumulant& here,
                                          double s0, double reach, double enough);

}  // namespace sfumato
