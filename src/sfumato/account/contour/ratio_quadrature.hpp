#pragma once

#include "sfumato/account/contour/density_ratio.hpp"
#include "sfumato/account/contour/tilted_distribution.hpp"

/// Gauss-Legendre's rule for losses of one record at a normal z. Where Im s is large and sampled steps are rare, the loss turns fast only where hardly
/// any of its distribution is: the trapezoidal rule would put as many points everywhere as are needed there (Spec §18.9).
namespace sfumato::gauss_legendre {

/// Whether the panels take clearly fewer points than the trapezoidal rule, for one record.
[[nodiscard]] bool are_fewer(const RatioStep& step, double s0, double reach);

/// About how many points the distribution takes, without making it.
[[nodiscard]] double points_of(const RatioStep& step, double s0, double reach);

/// For one record.
[[nodiscard]] TiltedDistribution tilted_distribution(const RatioStep& step, double s0,
                                                     double reach);

}  // namespace sfumato::gauss_legendre

namespace sfumato {

/// By whichever rule takes fewer points, panels or the trapezoidal one; and how many, about.
[[nodiscard]] TiltedDistribution tilted_distribution_of(const RatioStep& step, double s0,
                                                        double reach);
[[nodiscard]] double fewest_points_of(const RatioStep& step, double s0, double reach);

}  // namespace sfumato
