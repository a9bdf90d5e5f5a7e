#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/nn/network.hpp"
#include "sfumato/nn/noise_scale.hpp"

namespace sfumato {

/// How a step of training draws the noise that it adds to  x - learning_rate g:  N(0, S) with
///
///   none                 S = 0
///   isotropic            S = sigma^2
///   isotropic_per_layer  S = sigma^2 max |g| over the layer            Spec §8.5
///   anisotropic          S_i = sigma^2 |g_i|                           Spec §8.5
///   floored              S_i = sigma^2 max(|g_i|, floor)               Spec §8.6
///   fixed                S_i = sigma^2 times a covariance made beforehand
enum class NoiseKind { none, isotropic, isotropic_per_layer, anisotropic, floored, fixed };

/// What sigma^2 times its factor is: the variance of the noise; its standard deviation; or the variance of
/// noise that is then multiplied by the learning rate.
enum class NoiseReading { variance, deviation, times_learning_rate };

[[nodiscard]] std::string_view name(NoiseKind kind);
[[nodiscard]] std::string_view name(NoiseReading reading);
struct NoisePolicy {
  std::string name;  ///< in tables and ledgers
  NoiseKind kind = NoiseKind::none;
  double variance = 0.0;  ///< sigma^2
  double floor = 0.0;     ///< of |g_i|, for `floored`
  NoiseReading reading = NoiseReading::variance;
  bool bias_in_layer =
      true;  ///< the layer's maximum is over weights and biases; else over each apart
  /// Variances of all parameters in the network's order, for `fixed`.
  std::shared_ptr<const std::vector<float>> fixed = {};
};

/// Throws   InvalidArgument naming the policy: a variance that is negative or not finite, zero where the
///          policy has noise, a floor that is not positive (floored), no or too many fixed variances.
void require_valid(const NoisePolicy& policy, const Network& network,
                   const Where& where = Where::here());

/// What a guarantee would need and why there is none yet; one or two sentences for people.
[[nodiscard]] std::string what_a_guarantee_needs(const NoisePolicy& policy);

/// Coefficients of the step's variance in one block, given the largest |g| of the block's weights and
/// biases. For `fixed` the factor of the policy's own variances.
struct BlockScales {
  NoiseScale weights, biases;
};
[[nodiscard]] BlockScales noise_scales(const NoisePolicy& policy, double learning_rate,
                                       float largest_weight_gradient, float largest_bias_gradient);

/// The variances S of a whole step in double precision, for the path KL; `gradient` in the network's
/// order.
[[nodiscard]] std::vector<double> step_variances(const NoisePolicy& policy, double learning_rate,
                                                 const Network& network,
                                                 std::span<const double> gradient);

}  // namespace sfumato
