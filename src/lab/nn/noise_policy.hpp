#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lab/nn/network.hpp"
#include "lab/nn/noise_scale.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato::lab {

/// How a step of training draws the noise that it adds to  x - learning_rate g:  N(0, S) with
///
///   none                 S = 0
///   isotropic            S = sigma^2
///   isotropic_per_layer  S = sigma^2 max |g| over the layer            Spec §8.5
///   anisotropic          S_i = sigma^2 |g_i|                           Spec §8.5
///   floored              S_i = sigma^2 max(|g_i|, floor)               Spec §8.6
///   fixed                S = sigma^2 times a covariance made beforehand: diagonal, or diagonal plus low rank
///   clipped              gradients are clipped record by record, and S is that of a Gaussian mechanism on their sum: Spec §23
enum class NoiseKind { none, isotropic, isotropic_per_layer, anisotropic, floored, fixed, clipped };

/// The norm that records are clipped in and the noise is isotropic in, for `clipped`.
///
///   isotropic  Euclidean, noise of deviation  noise_multiplier clip
///   per_layer  each layer is clipped by itself, with the split of noise that is least in sum (layer_split)
///   whitened   sqrt(sum g_i^2 / v_i) of variances v made beforehand without the private data; noise of variance
///              (noise_multiplier clip)^2 v_i
///   low_rank   the same norm, noise of covariance (noise_multiplier clip)^2 (diag(v) + F F^T), which reveals no more
///   released   as whitened, v estimated along the way from what earlier steps have released (Spec §23.3)
///   input      Euclidean, on inputs that were whitened by their released second moments (Spec §23.4)
enum class PrivateMetric { isotropic, per_layer, whitened, low_rank, released, input };

/// The layers whose inputs the metric `input` whitens.
enum class MetricLayers { first, all };

/// What sigma^2 times its factor is: the variance of the noise; its standard deviation; the variance of noise that is added to
/// the gradient, and so multiplied by the learning rate; or that of noise which is multiplied by its root, as when a step is
/// one of Euler and Maruyama.
enum class NoiseReading { variance, deviation, times_learning_rate, times_root_learning_rate };

[[nodiscard]] std::string_view name(NoiseKind kind);
[[nodiscard]] std::string_view name(NoiseReading reading);
[[nodiscard]] std::string_view name(PrivateMetric metric);
[[nodiscard]] std::string_view name(MetricLayers layers);

struct NoisePolicy {
  std::string name;  ///< in tables and ledgers
  NoiseKind kind = NoiseKind::none;
  double variance = 0.0;  ///< sigma^2
  double floor = 0.0;     ///< of |g_i|, for `floored`
  NoiseReading reading = NoiseReading::variance;
  bool bias_in_layer =
      true;  ///< the layer's maximum is over weights and biases; else over each apart
  /// Variances of all parameters in the network's order, for `fixed`; it may have a `factor` too.
  std::shared_ptr<const std::vector<float>> fixed = {};

  // Of `clipped`, which has variances in `fixed` for `whitened` and `low_rank`.
  PrivateMetric metric = PrivateMetric::isotropic;
  double clip = 0.0;                     ///< of each record's gradient, in the metric
  std::vector<double> layer_clips = {};  ///< per_layer: of each of its blocks
  double noise_multiplier = 0.0;  ///< deviation of the noise over what a record contributes at most
  // input: what the release of the inputs' second moments costs, as mu of Gaussian privacy, and how the metric is made of it (Spec §23.4).
  double metric_mu = 0.0;
  double metric_floor = 1.0;  ///< of the eigenvalues, in edges of the noise
  double input_bound = 0.0;   ///< longer inputs are scaled down in the moments; 0: sqrt(inputs)
  MetricLayers metric_layers = MetricLayers::first;
  /// low_rank: F, column by column in the network's order.
  std::shared_ptr<const std::vector<std::vector<float>>> factor = {};
};

/// Throws   InvalidArgument naming the policy: a variance that is negative or not finite, zero where the
///          policy has noise, a floor that is not positive (floored), no or too many fixed variances, a clip or a noise multiplier
///          that is not positive (clipped).
void require_valid(const NoisePolicy& policy, const Network& network,
                   const Where& where = Where::here());

/// What a guarantee would need and why there is none yet; one or two sentences for people. Of `clipped`: that there is one.
[[nodiscard]] std::string what_a_guarantee_needs(const NoisePolicy& policy);

/// Coefficients of the step's variance in one block, given the largest |g| of the block's weights and
/// biases. For `fixed` the factor of the policy's own variances. Not for `clipped`, whose noise is known before the gradient (private_noise.hpp).
struct BlockScales {
  NoiseScale weights, biases;
};
[[nodiscard]] BlockScales noise_scales(const NoisePolicy& policy, double learning_rate,
                                       float largest_weight_gradient, float largest_bias_gradient);

/// The variances S of a whole step in double precision, for the path KL; `gradient` in the network's
/// order. `unit` is what sums of gradients are multiplied with, which the noise of `clipped` is added to.
[[nodiscard]] std::vector<double> step_variances(const NoisePolicy& policy, double learning_rate,
                                                 const Network& network,
                                                 std::span<const double> gradient,
                                                 double unit = 1.0);

}  // namespace sfumato::lab
