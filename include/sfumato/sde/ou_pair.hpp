#pragma once

#include <Eigen/Core>
#include <memory>

#include "sfumato/math/covariance.hpp"
#include "sfumato/sde/gaussian_distribution.hpp"

namespace sfumato {

namespace detail {
struct GivenLoss;
}  // namespace detail

/// Noisy gradient flow of a quadratic loss,  dX = -(A X - pull) dt + Sigma^{1/2} dW  (Spec §5).
struct OuProcess {
  Eigen::MatrixXd curvature;  ///< A, symmetric; may be singular or indefinite
  Eigen::VectorXd pull;       ///< A x* where a minimiser x* exists, B^T y for least squares
  Covariance noise;           ///< Sigma, the diffusion covariance (Spec §1.1)
  /// What curvature and pull are rounded from; none if they are what is meant.
  std::shared_ptr<const detail::GivenLoss> given = {};
};

/// Two Ornstein-Uhlenbeck processes, the first of data D and the second of data D'. Bounds are on
/// KL(p || q); those on KL(q || p) are the bounds of swapped(pair).
struct OuPair {
  OuProcess p;
  GaussianDistribution start_p;
  OuProcess q;
  GaussianDistribution start_q;
};

[[nodiscard]] inline OuPair swapped(const OuPair& pair) {
  return {pair.q, pair.start_q, pair.p, pair.start_p};
}

}  // namespace sfumato
