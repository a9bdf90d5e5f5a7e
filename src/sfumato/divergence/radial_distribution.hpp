#pragma once

#include <vector>

namespace sfumato {

/// Upper bounds on how far a log-concave distribution strays from a point (Spec §7.9 (2)).
struct RadialTails {
  std::vector<double> beyond;  ///< P(x > radii[k])
  double outer;  ///< E[(x/x_K)^2; x > x_K], x_K the last radius; +inf if there is none
};

/// The distribution on x >= 0 with density  x^{d-1} e^{-Psi(x)},  Psi(0) = 0,
///
///   Psi'(x) = -slope + integral_0^x m,   m = curvature[k] on (radii[k-1], radii[k]], 0 beyond the last.
///
/// The density is log-concave: on each piece the chord of its logarithm bounds it from below and the
/// tangent in the middle from above, so every number is an upper bound.
///
/// Assumes  increasing radii > 0, curvature >= 0, one for each radius; slope >= 0; dimension >= 1.
[[nodiscard]] RadialTails radial_tails(int dimension, double slope,
                                       const std::vector<double>& radii,
                                       const std::vector<double>& curvature);

}  // namespace sfumato
