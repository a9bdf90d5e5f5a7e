#pragma once

#include "sfumato/account/accountant/step.hpp"
#include "sfumato/account/contour/tilted_law.hpp"

/// Gauss-Legendre rules on panels for losses whose law has edges, where the trapezoidal rule would lose its order, with a
/// bound of their error (Spec §17.3).
namespace sfumato::panels {

[[nodiscard]] TiltedLaw tilted_law(const TwoSidedGaussian& step, double s0, double reach);
[[nodiscard]] TiltedLaw tilted_law(const LaplaceStep& step, double s0, double reach);

[[nodiscard]] double points_of(const TwoSidedGaussian& step, double s0, double reach);
[[nodiscard]] double points_of(const LaplaceStep& step, double s0, double reach);

}  // namespace sfumato::panels
