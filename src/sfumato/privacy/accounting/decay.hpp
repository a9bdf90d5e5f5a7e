#pragma once

#include "sfumato/privacy/accounting/step.hpp"
#include "sfumato/privacy/accounting/tilted_law.hpp"

namespace sfumato {

/// The most that log |M(s0 + iy)| can be for any y >= reach, rounded up; `law` is that of the step at s0. For losses of a normal z the best
/// of several lines parallel to the real axis (Theorem T of Spec §18.3), with the errors of its own quadrature. Where M does not
/// decay, log M(s0).
[[nodiscard]] double log_bound_beyond(const StepLoss& step, const TiltedLaw& law, double s0,
                                      double reach);

}  // namespace sfumato
