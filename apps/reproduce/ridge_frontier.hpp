#pragma once

#include <string>
#include <vector>

#include "reproduce/ridge_data.hpp"

namespace sfumato::apps {

/// One noise on the ridge problem.
struct FrontierPoint {
  double variance;     ///< sigma^2
  double excess_loss;  ///< E f(x_k) - min f on D, exact
  double advantage;    ///< total variation of the two outputs, exact
  double kl;           ///< KL(D || D'), exact
};

struct FrontierCurve {
  std::string policy;
  std::vector<FrontierPoint> points;  ///< by rising noise; all curves have the same losses
};

struct RidgeFrontierOptions {
  Eigen::Index rows = 200;
  double ridge = 0.01;
  double learning_rate = 0.5;
  double steps = 200;
  double floor = 0.1;  ///< of |g_i|, as a share of the largest at the start
  /// What the noise adds to the loss, smallest and largest, and how many values between on a log scale.
  double least_loss = 1e-6, largest_loss = 1.0;
  int points = 25;
};

/// Risk against loss of noisy gradient descent on a ridge problem from real records, one row removed
/// (the most influential one), both worlds from 0. The outputs are normal, so risk and loss are exact.
///
///   isotropic, designed, designed_by_outcome
///                          the same noise in both worlds
///   isotropic_per_layer, anisotropic, floored
///                          the paper's, with the gradient frozen at the start: sigma^2 max|g|,
///                          sigma^2 |g_i|, sigma^2 max(|g_i|, floor); g is that of the world's own data
///
/// The designs come from other, public records (the set's test part): by the worst gradient of a row at
/// the minimiser, as a step sees it, or by the worst shift of the minimiser, as the outcome shows it.
[[nodiscard]] std::vector<FrontierCurve> ridge_frontier(const RidgeFrontierOptions& options,
                                                        const DataPlaces& places);

}  // namespace sfumato::apps
