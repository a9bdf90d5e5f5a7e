#include "lab/nn/noise_policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "sfumato/core/error.hpp"

namespace sfumato::lab {
namespace {

/// Sets the variances from..to-1 to what sigma^2 amount(i) stands for. What does not depend on i is decided outside of the loops,
/// which are then vectors.
template <class Amount>
void fill_part(const ScaledNoise& noise, double learning_rate, std::span<double> variances,
               std::size_t from, std::size_t to, const Amount& amount) {
  const double sigma2 = noise.variance;
  switch (noise.interpretation) {
    case NoiseInterpretation::variance:
      for (std::size_t i = from; i < to; ++i) variances[i] = sigma2 * amount(i);
      return;
    case NoiseInterpretation::deviation:
      for (std::size_t i = from; i < to; ++i) {
        const double deviation = sigma2 * amount(i);
        variances[i] = deviation * deviation;
      }
      return;
    case NoiseInterpretation::times_learning_rate:
      for (std::size_t i = from; i < to; ++i) {
        variances[i] = sigma2 * amount(i) * learning_rate * learning_rate;
      }
      return;
    case NoiseInterpretation::times_root_learning_rate:
      for (std::size_t i = from; i < to; ++i) variances[i] = sigma2 * amount(i) * learning_rate;
      return;
  }
  throw InternalError("an unknown interpretation of the noise scale");
}

/// max |value|, in four chains.
double largest_size(std::span<const double> values) {
  double largest[4] = {};
  for (std::size_t i = 0; i < values.size(); ++i) {
    largest[i % 4] = std::max(largest[i % 4], std::fabs(values[i]));
  }
  return std::max(std::max(largest[0], largest[1]), std::max(largest[2], largest[3]));
}

/// Of all parameters, by one rule for weights and biases.
template <class Amount>
void fill_all(const ScaledNoise& noise, const StepGradient& step, std::span<double> variances,
              const Amount& amount) {
  for (const ParameterBlock& block : step.network.blocks()) {
    fill_part(noise, step.learning_rate, variances, block.offset, block.offset + block.size(),
              amount);
  }
}

BlockScales everywhere(const NoiseScale& scale) { return {scale, scale}; }

/// Coefficients of noise whose size follows each |g_i|.
NoiseScale following(const ScaledNoise& noise, double learning_rate, float floor) {
  NoiseScale scale;
  scale.floor = floor;
  const auto size = static_cast<float>(noise.variance_of(noise.variance, learning_rate));
  (noise.interpretation == NoiseInterpretation::deviation ? scale.square_factor
                                                          : scale.gradient_factor) = size;
  return scale;
}

/// A deviation that is sigma^2 max(|g|, floor), or a covariance, is not what anybody means.
void refuse_deviation(const ScaledNoise& noise, std::string_view rule, const RefusePolicy& refuse) {
  if (noise.interpretation != NoiseInterpretation::deviation) return;
  refuse(fmt::format("reading = `deviation` has no meaning for `{}`", rule),
         "Leave it out: the scale is a variance there");
}

constexpr const char* kNeedsClips =
    "A guarantee would need gradients clipped record by record, a covariance chosen "
    "without the private data, and an accountant for the steps; gradients are not "
    "clipped here, so there is none.";
constexpr const char* kDependsOnData =
    "The scale of the noise depends on the private data: no noise level removes that part "
    "of the risk and no guarantee exists (Spec §8.5). It can only be audited.";

}  // namespace

std::string_view name(NoiseInterpretation interpretation) {
  switch (interpretation) {
    case NoiseInterpretation::variance: return "variance";
    case NoiseInterpretation::deviation: return "deviation";
    case NoiseInterpretation::times_learning_rate: return "times_learning_rate";
    case NoiseInterpretation::times_root_learning_rate: return "times_root_learning_rate";
  }
  throw InternalError("an interpretation of the noise scale without a name");
}

double ScaledNoise::variance_of(double amount, double learning_rate) const {
  switch (interpretation) {
    case NoiseInterpretation::variance: return amount;
    case NoiseInterpretation::deviation: return amount * amount;
    case NoiseInterpretation::times_learning_rate: return amount * learning_rate * learning_rate;
    case NoiseInterpretation::times_root_learning_rate: return amount * learning_rate;
  }
  throw InternalError("an unknown interpretation of the noise scale");
}

void ScaledNoise::require_valid(const Network& /*network*/, const RefusePolicy& refuse) const {
  if (!(std::isfinite(variance) && variance >= 0.0)) {
    refuse(fmt::format("variance = {} is not a finite number from 0 on", variance),
           "Give sigma^2, the square of the noise's scale");
  }
  if (variance == 0.0) {
    refuse("variance = 0", "Use the policy `none` for training without noise");
  }
}

std::string NoNoise::guarantee() const {
  return "No noise is added: nothing but the batches is random, and no guarantee is possible.";
}

BlockScales IsotropicNoise::scales(double learning_rate, float, float) const {
  NoiseScale scale;
  scale.constant = static_cast<float>(variance_of(variance, learning_rate));
  return everywhere(scale);
}

void IsotropicNoise::fill_variances(const StepGradient& step, std::span<double> variances) const {
  fill_all(*this, step, variances, [](std::size_t) { return 1.0; });
}

std::string IsotropicNoise::guarantee() const { return kNeedsClips; }

BlockScales PerLayerNoise::scales(double learning_rate, float largest_weight_gradient,
                                  float largest_bias_gradient) const {
  float weights = largest_weight_gradient, biases = largest_bias_gradient;
  if (bias_in_layer) weights = biases = std::max(weights, biases);
  const auto constant = [&](float largest) {
    return static_cast<float>(variance_of(variance * static_cast<double>(largest), learning_rate));
  };
  BlockScales scales;
  scales.weights.constant = constant(weights);
  scales.biases.constant = constant(biases);
  return scales;
}

void PerLayerNoise::fill_variances(const StepGradient& step, std::span<double> variances) const {
  for (const ParameterBlock& block : step.network.blocks()) {
    const std::size_t begin = block.offset, bias = block.bias(), end = begin + block.size();
    double weights = largest_size(step.gradient.subspan(begin, bias - begin));
    double biases = largest_size(step.gradient.subspan(bias, end - bias));
    if (bias_in_layer) weights = biases = std::max(weights, biases);
    fill_part(*this, step.learning_rate, variances, begin, bias,
              [weights](std::size_t) { return weights; });
    fill_part(*this, step.learning_rate, variances, bias, end,
              [biases](std::size_t) { return biases; });
  }
}

std::string PerLayerNoise::guarantee() const { return kDependsOnData; }

BlockScales AnisotropicNoise::scales(double learning_rate, float, float) const {
  return everywhere(following(*this, learning_rate, 0.0F));
}

void AnisotropicNoise::fill_variances(const StepGradient& step, std::span<double> variances) const {
  fill_all(*this, step, variances, [&](std::size_t i) { return std::fabs(step.gradient[i]); });
}

std::string AnisotropicNoise::guarantee() const { return kDependsOnData; }

BlockScales FlooredNoise::scales(double learning_rate, float, float) const {
  return everywhere(following(*this, learning_rate, static_cast<float>(floor)));
}

void FlooredNoise::fill_variances(const StepGradient& step, std::span<double> variances) const {
  fill_all(*this, step, variances,
           [&](std::size_t i) { return std::max(std::fabs(step.gradient[i]), floor); });
}

std::string FlooredNoise::guarantee() const {
  return "A guarantee would need gradients clipped coordinate by coordinate well below the "
         "floor, and an accountant for the steps (Spec §8.6); gradients are not clipped here, "
         "so there is none.";
}

void FlooredNoise::require_valid(const Network& network, const RefusePolicy& refuse) const {
  ScaledNoise::require_valid(network, refuse);
  if (!(std::isfinite(floor) && floor > 0.0)) {
    refuse(fmt::format("floor = {} is not a finite positive number", floor),
           "Give the least |gradient| that the noise is scaled by");
  }
  refuse_deviation(*this, kName, refuse);
}

BlockScales FixedNoise::scales(double learning_rate, float, float) const {
  NoiseScale scale;
  scale.fixed_factor = static_cast<float>(variance_of(variance, learning_rate));
  return everywhere(scale);
}

void FixedNoise::fill_variances(const StepGradient& step, std::span<double> variances) const {
  fill_all(*this, step, variances, [&](std::size_t i) { return shape.variance(i); });
}

std::string FixedNoise::guarantee() const { return kNeedsClips; }

void FixedNoise::require_valid(const Network& network, const RefusePolicy& refuse) const {
  ScaledNoise::require_valid(network, refuse);
  refuse_deviation(*this, kName, refuse);
  require_shape(shape, network, false, refuse);
}

BlockScales PrivateNoise::scales(double, float, float) const {
  throw InternalError("the noise of clipped gradients has no such scale");
}

void PrivateNoise::fill_variances(const StepGradient& step, std::span<double> variances) const {
  const std::vector<double> noise = deviations(step.network);
  const NoiseShape* given = shape();
  for (std::size_t b = 0; b < noise.size(); ++b) {
    const ParameterBlock& block = step.network.blocks()[b];
    const double variance = std::pow(step.learning_rate * step.unit * noise[b], 2);
    for (std::size_t i = block.offset; i < block.offset + block.size(); ++i) {
      variances[i] = variance * (given != nullptr ? given->variance(i) : 1.0);
    }
  }
}

std::string PrivateNoise::guarantee() const {
  return "Gradients are clipped record by record before noise is added: the accountant says what "
         "is guaranteed.";
}

std::string_view name(const NoiseRule& rule) {
  return std::visit([](const auto& one) { return one.kName; }, rule);
}

const ScaledNoise* scaled_noise(const NoiseRule& rule) {
  return std::visit(
      [](const auto& one) -> const ScaledNoise* {
        if constexpr (std::is_base_of_v<ScaledNoise, std::decay_t<decltype(one)>>) {
          return &one;
        } else {
          return nullptr;
        }
      },
      rule);
}

ScaledNoise* scaled_noise(NoiseRule& rule) {
  return const_cast<ScaledNoise*>(scaled_noise(std::as_const(rule)));
}

const NoiseShape* shape_of(const NoiseRule& rule) {
  if (const auto* fixed = std::get_if<FixedNoise>(&rule)) return &fixed->shape;
  const auto* clipped = std::get_if<PrivateNoise>(&rule);
  return clipped != nullptr ? clipped->shape() : nullptr;
}

void require_valid(const NoisePolicy& policy, const Network& network, const Where& where) {
  const auto refuse = [&](const std::string& problem, const std::string& remedy) {
    throw InvalidArgument(fmt::format("noise policy \"{}\": {}", policy.name, problem), remedy,
                          where);
  };
  std::visit([&](const auto& one) { one.require_valid(network, refuse); }, policy.rule);
}

std::string what_a_guarantee_needs(const NoiseRule& rule) {
  return std::visit([](const auto& one) { return one.guarantee(); }, rule);
}

BlockScales noise_scales(const NoisePolicy& policy, double learning_rate,
                         float largest_weight_gradient, float largest_bias_gradient) {
  return std::visit(
      [&](const auto& one) {
        return one.scales(learning_rate, largest_weight_gradient, largest_bias_gradient);
      },
      policy.rule);
}

std::vector<double> step_variances(const NoisePolicy& policy, const StepGradient& step) {
  std::vector<double> variances(step.gradient.size());
  std::visit([&](const auto& one) { one.fill_variances(step, variances); }, policy.rule);
  return variances;
}

}  // namespace sfumato::lab
