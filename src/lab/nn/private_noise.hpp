#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "lab/nn/clipping.hpp"
#include "lab/nn/network.hpp"
#include "lab/nn/noise_policy.hpp"

namespace sfumato::lab {

/// The noise of layers that are clipped one by one, so that together they reveal mu and their variances, each times the number of the layer's
/// parameters and its weight, add up to the least (Spec §23.1):
///
///   s_l^2 = C_l / sqrt(d_l w_l)  sum_k C_k sqrt(d_k w_k) / mu^2
struct LayerSplit {
  std::vector<double> deviations;  ///< s_l
  double objective;                ///< sum_l d_l w_l s_l^2
  double uniform_objective;        ///< the same with equal s_l
};
/// Throws   InvalidArgument if sizes differ, nothing is given or a number is not finite and positive.
[[nodiscard]] LayerSplit layer_split(std::span<const double> clips, std::span<const double> sizes,
                                     std::span<const double> weights, double mu);

/// For a diagonal Hessian h and second moments G of the gradient: the variances of trace d that cost one step least at equal average
/// privacy, Sigma proportional to sqrt(G / h), and how much less they cost than equal ones (Spec §23.2): an average, no guarantee.
struct OneStepShape {
  std::vector<double> variances;
  double gain;
};
[[nodiscard]] OneStepShape one_step_shape(std::span<const double> hessian,
                                          std::span<const double> gradient_moment);

/// What follows from a policy of kind `clipped` for a network. The deviations are those of the noise on the sum of clipped gradients, block
/// by block, before the shape of the metric.
[[nodiscard]] Clipping clipping_of(const NoisePolicy& policy);
[[nodiscard]] std::vector<double> block_deviations(const NoisePolicy& policy,
                                                   const Network& network);
/// The least of them, and with the shape, if that is less: what single precision has to hold.
[[nodiscard]] double least_deviation(const NoisePolicy& policy, const Network& network);
/// Whether single precision holds the variance of noise with all of its digits.
[[nodiscard]] bool holds_variance(double deviation);
/// One over the variances of the policy's shape; empty where it is Euclidean.
[[nodiscard]] std::vector<float> inverse_shape(const NoisePolicy& policy);

/// What one record contributes to a sum at most, in deviations of its noise: 1 / noise_multiplier whatever the metric, computed from clips
/// and deviations (Spec §19.4).
[[nodiscard]] double contribution_of(const NoisePolicy& policy, const Network& network);

}  // namespace sfumato::lab
