#pragma once

#include <Eigen/Core>
#include <vector>

#include "sfumato/sde/diffusion.hpp"
#include "sfumato/sde/fokker_planck/grid.hpp"
#include "sfumato/sde/gaussian_distribution.hpp"

namespace sfumato {

/// A linear change of coordinates z = forward x.
struct LinearMap {
  Eigen::MatrixXd forward;
  Eigen::MatrixXd backward;  ///< the inverse
};

/// Coordinates in which two constant noises are both diagonal, Sigma the identity (Spec §12.4; an
/// entropy does not change). The identity where both diffusions have diagonal or state-dependent
/// noise already.
///
/// Throws  InvalidArgument if one noise is constant and not diagonal while the other depends on the
///         state, or if the first is singular.
[[nodiscard]] LinearMap diagonalising_map(const Diffusion& p, const Diffusion& q);

/// The diffusion of z = forward x. Only constant noise is moved by a map other than the identity.
[[nodiscard]] Diffusion mapped(const Diffusion& diffusion, const LinearMap& map);
[[nodiscard]] GaussianDistribution mapped(const GaussianDistribution& distribution,
                                          const LinearMap& map);
/// The smallest box that holds the image of a box; none of none.
[[nodiscard]] std::vector<Interval> mapped(const std::vector<Interval>& box, const LinearMap& map);

}  // namespace sfumato
