#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lab/nn/network.hpp"
#include "lab/nn/noise_scale.hpp"
#include "lab/nn/private_metric.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato::lab {

/// What sigma^2 times its factor is: the variance of the noise; its standard deviation; the variance of noise that is added to
/// the gradient, and so multiplied by the learning rate; or that of noise which is multiplied by its root, as when a step is
/// one of Euler and Maruyama.
enum class NoiseInterpretation {
  variance,
  deviation,
  times_learning_rate,
  times_root_learning_rate
};
[[nodiscard]] std::string_view name(NoiseInterpretation interpretation);

/// Coefficients of the step's variance in one block.
struct BlockScales {
  NoiseScale weights, biases;
};

/// A step whose variances are asked for. `unit` is what sums of gradients are multiplied with, to which private noise is added.
struct StepGradient {
  const Network& network;
  double learning_rate;
  std::span<const double> gradient;  ///< in the network's order
  double unit = 1.0;
};

/// How a step of training draws the noise N(0, S) that it adds to  x - learning_rate g. One type each, with answers to
///
///   scales         coefficients of S in a block, given the largest |g| of its weights and biases; of FixedNoise the factor of its variances
///   fill_variances S of the step in double precision
///   guarantee      what a guarantee would need and why there is none yet, one or two sentences for people; of PrivateNoise that there is one
///   require_valid  refuses what has no meaning for a network
///
/// This base is for noise of a size that somebody chose.
struct ScaledNoise {
  double variance = 0.0;  ///< sigma^2
  NoiseInterpretation interpretation = NoiseInterpretation::variance;

  /// The variance that stands for `amount`, sigma^2 times what it is multiplied with.
  [[nodiscard]] double variance_of(double amount, double learning_rate) const;
  void require_valid(const Network& network, const RefusePolicy& refuse) const;
};

/// S = 0
struct NoNoise {
  static constexpr std::string_view kName = "none";
  [[nodiscard]] BlockScales scales(double, float, float) const { return {}; }
  void fill_variances(const StepGradient&, std::span<double>) const {}
  [[nodiscard]] std::string guarantee() const;
  void require_valid(const Network&, const RefusePolicy&) const {}
};

/// S = sigma^2
struct IsotropicNoise : ScaledNoise {
  static constexpr std::string_view kName = "isotropic";
  [[nodiscard]] BlockScales scales(double learning_rate, float, float) const;
  void fill_variances(const StepGradient& step, std::span<double> variances) const;
  [[nodiscard]] std::string guarantee() const;
};

/// S = sigma^2 max |g| over the layer: Spec §8.5
struct PerLayerNoise : ScaledNoise {
  static constexpr std::string_view kName = "isotropic_per_layer";
  bool bias_in_layer = true;  ///< the maximum is over weights and biases; else over each apart
  [[nodiscard]] BlockScales scales(double learning_rate, float largest_weight_gradient,
                                   float largest_bias_gradient) const;
  void fill_variances(const StepGradient& step, std::span<double> variances) const;
  [[nodiscard]] std::string guarantee() const;
};

/// S_i = sigma^2 |g_i|: Spec §8.5
struct AnisotropicNoise : ScaledNoise {
  static constexpr std::string_view kName = "anisotropic";
  [[nodiscard]] BlockScales scales(double learning_rate, float, float) const;
  void fill_variances(const StepGradient& step, std::span<double> variances) const;
  [[nodiscard]] std::string guarantee() const;
};

/// S_i = sigma^2 max(|g_i|, floor): Spec §8.6
struct FlooredNoise : ScaledNoise {
  static constexpr std::string_view kName = "floored";
  double floor = 0.0;
  [[nodiscard]] BlockScales scales(double learning_rate, float, float) const;
  void fill_variances(const StepGradient& step, std::span<double> variances) const;
  [[nodiscard]] std::string guarantee() const;
  void require_valid(const Network& network, const RefusePolicy& refuse) const;
};

/// S = sigma^2 times a covariance made beforehand: diagonal, or diagonal plus low rank
struct FixedNoise : ScaledNoise {
  static constexpr std::string_view kName = "fixed";
  NoiseShape shape = {};
  [[nodiscard]] BlockScales scales(double learning_rate, float, float) const;
  void fill_variances(const StepGradient& step, std::span<double> variances) const;
  [[nodiscard]] std::string guarantee() const;
  void require_valid(const Network& network, const RefusePolicy& refuse) const;
};

using NoiseRule = std::variant<NoNoise, IsotropicNoise, PerLayerNoise, AnisotropicNoise,
                               FlooredNoise, FixedNoise, PrivateNoise>;
[[nodiscard]] std::string_view name(const NoiseRule& rule);

/// The size of rules that have one; nullptr for NoNoise and PrivateNoise.
[[nodiscard]] const ScaledNoise* scaled_noise(const NoiseRule& rule);
[[nodiscard]] ScaledNoise* scaled_noise(NoiseRule& rule);
/// The covariance made beforehand that the rule, or its metric, has; nullptr if it has none.
[[nodiscard]] const NoiseShape* shape_of(const NoiseRule& rule);

struct NoisePolicy {
  std::string name;  ///< in tables and ledgers
  NoiseRule rule = NoNoise{};

  [[nodiscard]] bool is_private() const { return std::holds_alternative<PrivateNoise>(rule); }
  /// Throws   std::bad_variant_access unless it is private.
  [[nodiscard]] const PrivateNoise& private_noise() const { return std::get<PrivateNoise>(rule); }
  [[nodiscard]] PrivateNoise& private_noise() { return std::get<PrivateNoise>(rule); }
  /// The metric of that type, if it is private with such a one.
  template <class Metric>
  [[nodiscard]] const Metric* metric() const {
    return is_private() ? std::get_if<Metric>(&private_noise().metric) : nullptr;
  }
};

/// Throws   InvalidArgument naming the policy: a variance that is negative or not finite, zero where the
///          policy has noise, a floor that is not positive, no or too many fixed variances, a clip or a noise multiplier
///          that is not positive.
void require_valid(const NoisePolicy& policy, const Network& network,
                   const Where& where = Where::here());

/// What a guarantee would need, as the rule answers it.
[[nodiscard]] std::string what_a_guarantee_needs(const NoiseRule& rule);

/// Throws   InternalError for private noise, which is known before the gradient.
[[nodiscard]] BlockScales noise_scales(const NoisePolicy& policy, double learning_rate,
                                       float largest_weight_gradient, float largest_bias_gradient);

/// The variances S of a whole step in double precision, for the path KL.
[[nodiscard]] std::vector<double> step_variances(const NoisePolicy& policy,
                                                 const StepGradient& step);

}  // namespace sfumato::lab
