#pragma once

#include <Eigen/Core>
#include <vector>

#include "reproduce/ridge_data.hpp"

namespace sfumato::apps {

/// The stationary distributions of minibatch SGD on a ridge problem with and without one row, the noise being
/// that of Spec §10 at each minimiser: KL(D || D') exact, and its two parts.
struct BatchPoint {
  Eigen::Index batch;
  double drift;       ///< of the means: 1/2 dm^T V'^{-1} dm; +inf without noise
  double covariance;  ///< of the covariances; the rest of the KL
  double kl;
};

/// Batches without replacement from a table of N rows and one of N - 1, dX = -grad f dt +
/// (eta Cov(ghat))^{1/2} dW in the long run. n = N - 1 has no noise on D' and n = N none at all: both
/// KLs are infinite.
///
/// Throws   InvalidArgument if a batch is not in 1 .. N - 1; NumericalFailure if a covariance is
///          singular where there should be noise.
[[nodiscard]] std::vector<BatchPoint> kl_against_batch(const RidgeData& data, double ridge,
                                                       Eigen::Index row, double learning_rate,
                                                       const std::vector<Eigen::Index>& batches);

}  // namespace sfumato::apps
