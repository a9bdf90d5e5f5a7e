#pragma once

#include <Eigen/Core>

#include "sfumato/math/covariance.hpp"

namespace sfumato {

struct ClippedGradient {
  double norm;  ///< sqrt(g^T Sigma^{-1} g) before clipping
  Eigen::VectorXd gradient;
};

/// One record's gradient, shortened to Mahalanobis length clip_norm at most (Spec §8.7 (1)). With a
/// public Sigma this is ordinary clipping in the coordinates Sigma^{-1/2} x, so accountants for the
/// Gaussian mechanism apply unchanged. A zero gradient stays as it is.
///
/// Throws   InvalidArgument if sizes differ or clip_norm is not positive; NumericalFailure if Sigma
///          is singular.
[[nodiscard]] ClippedGradient mahalanobis_clip(const Eigen::VectorXd& gradient,
                                               const Covariance& covariance, double clip_norm);

}  // namespace sfumato
