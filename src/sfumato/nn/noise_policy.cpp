#include "sfumato/nn/noise_policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "sfumato/core/suggest.hpp"

namespace sfumato {
namespace {

constexpr std::array<std::pair<NoiseKind, std::string_view>, 6> kKinds = {
    {{NoiseKind::none, "none"},
     {NoiseKind::isotropic, "isotropic"},
     {NoiseKind::isotropic_per_layer, "isotropic_per_layer"},
     {NoiseKind::anisotropic, "anisotropic"},
     {NoiseKind::floored, "floored"},
     {NoiseKind::fixed, "fixed"}}};
constexpr std::array<std::pair<NoiseReading, std::string_view>, 3> kReadings = {
    {{NoiseReading::variance, "variance"},
     {NoiseReading::deviation, "deviation"},
     {NoiseReading::times_learning_rate, "times_learning_rate"}}};

template <class Value, std::size_t N>
Value parse(std::string_view text, std::string_view what,
            const std::array<std::pair<Value, std::string_view>, N>& names, const Where& where) {
  std::vector<std::string> known;
  for (const auto& [value, word] : names) {
    if (word == text) return value;
    known.emplace_back(word);
  }
  throw InvalidArgument(fmt::format("`{}` is no {}", text, what),
                        suggestion(text, known, fmt::format("{}s", what)), where);
}

template <class Value, std::size_t N>
std::string_view name_in(Value value,
                         const std::array<std::pair<Value, std::string_view>, N>& names) {
  for (const auto& [known, word] : names) {
    if (known == value) return word;
  }
  throw InternalError("a value without a name");
}

/// The variance that stands for `amount` (sigma^2 times what it is multiplied with).
double variance_of(const NoisePolicy& policy, double amount, double learning_rate) {
  switch (policy.reading) {
    case NoiseReading::variance: return amount;
    case NoiseReading::deviation: return amount * amount;
    case NoiseReading::times_learning_rate: return amount * learning_rate * learning_rate;
  }
  throw InternalError("an unknown reading of the noise scale");
}

}  // namespace

std::string_view name(NoiseKind kind) { return name_in(kind, kKinds); }
std::string_view name(NoiseReading reading) { return name_in(reading, kReadings); }
NoiseKind parse_noise_kind(std::string_view text, const Where& where) {
  return parse(text, "noise policy", kKinds, where);
}
NoiseReading parse_noise_reading(std::string_view text, const Where& where) {
  return parse(text, "reading", kReadings, where);
}

void require_valid(const NoisePolicy& policy, const Network& network, const Where& where) {
  const auto refuse = [&](const std::string& problem, const std::string& remedy) {
    throw InvalidArgument(fmt::format("noise policy `{}`: {}", policy.name, problem), remedy,
                          where);
  };
  if (!(std::isfinite(policy.variance) && policy.variance >= 0.0)) {
    refuse(fmt::format("variance = {} is not a finite number from 0 on", policy.variance),
           "Give sigma^2, the square of the noise's scale");
  }
  if (policy.kind != NoiseKind::none && policy.variance == 0.0) {
    refuse("variance = 0", "Use the policy `none` for training without noise");
  }
  if (policy.kind == NoiseKind::floored && !(std::isfinite(policy.floor) && policy.floor > 0.0)) {
    refuse(fmt::format("floor = {} is not a finite positive number", policy.floor),
           "Give the least |gradient| that the noise is scaled by");
  }
  if (policy.reading == NoiseReading::deviation &&
      (policy.kind == NoiseKind::floored || policy.kind == NoiseKind::fixed)) {
    refuse(fmt::format("reading = `deviation` has no meaning for `{}`", sfumato::name(policy.kind)),
           "Leave it out: the scale is a variance there");
  }
  if (policy.kind != NoiseKind::fixed) return;
  if (!policy.fixed) refuse("has no covariance", "Name a file written by `sfumato design`");
  if (policy.fixed->size() != network.parameter_count()) {
    refuse(fmt::format("its covariance is for {} parameters, the network has {}",
                       policy.fixed->size(), network.parameter_count()),
           "Design the noise for this network");
  }
  for (std::size_t i = 0; i < policy.fixed->size(); ++i) {
    const float v = (*policy.fixed)[i];
    if (!(std::isfinite(v) && v >= 0.0F)) {
      refuse(fmt::format("its variance of {} is {}", network.parameter_name(i), v),
             "Variances are finite and not negative");
    }
  }
}

std::string what_a_guarantee_needs(const NoisePolicy& policy) {
  switch (policy.kind) {
    case NoiseKind::none:
      return "No noise is added: nothing but the batches is random, and no guarantee is possible.";
    case NoiseKind::isotropic:
    case NoiseKind::fixed:
      return "A guarantee would need gradients clipped record by record, a covariance chosen "
             "without the private data, and an accountant for the steps; gradients are not "
             "clipped here, so there is none.";
    case NoiseKind::floored:
      return "A guarantee would need gradients clipped coordinate by coordinate well below the "
             "floor, and an accountant for the steps (Spec §8.6); gradients are not clipped here, "
             "so there is none.";
    case NoiseKind::isotropic_per_layer:
    case NoiseKind::anisotropic:
      return "The scale of the noise depends on the private data: no noise level removes that part "
             "of the risk and no guarantee exists (Spec §8.5). It can only be audited.";
  }
  throw InternalError("an unknown noise policy");
}

BlockScales noise_scales(const NoisePolicy& policy, double learning_rate,
                         float largest_weight_slope, float largest_bias_slope) {
  const double sigma2 = policy.variance;
  NoiseScale scale;
  const auto constant = [&](double amount) {
    return static_cast<float>(variance_of(policy, amount, learning_rate));
  };
  switch (policy.kind) {
    case NoiseKind::none: break;
    case NoiseKind::isotropic: scale.constant = constant(sigma2); break;
    case NoiseKind::isotropic_per_layer: {
      const auto whole = static_cast<double>(std::max(largest_weight_slope, largest_bias_slope));
      const auto weights = policy.bias_in_layer ? whole : static_cast<double>(largest_weight_slope);
      const auto biases = policy.bias_in_layer ? whole : static_cast<double>(largest_bias_slope);
      BlockScales scales;
      scales.weights.constant = constant(sigma2 * weights);
      scales.biases.constant = constant(sigma2 * biases);
      return scales;
    }
    case NoiseKind::anisotropic:
    case NoiseKind::floored:
      scale.floor = policy.kind == NoiseKind::floored ? static_cast<float>(policy.floor) : 0.0F;
      if (policy.reading == NoiseReading::deviation) {
        scale.square_factor = constant(sigma2);
      } else {
        scale.gradient_factor = constant(sigma2);
      }
      break;
    case NoiseKind::fixed: scale.fixed_factor = constant(sigma2); break;
  }
  return {scale, scale};
}

std::vector<double> step_variances(const NoisePolicy& policy, double learning_rate,
                                   const Network& network, std::span<const double> gradient) {
  std::vector<double> variances(gradient.size());
  for (const ParameterBlock& block : network.blocks()) {
    double largest[2] = {0.0, 0.0};
    for (std::size_t i = block.offset; i < block.offset + block.size(); ++i) {
      double& most = largest[i < block.bias() ? 0 : 1];
      most = std::max(most, std::fabs(gradient[i]));
    }
    if (policy.bias_in_layer) largest[0] = largest[1] = std::max(largest[0], largest[1]);
    for (std::size_t i = block.offset; i < block.offset + block.size(); ++i) {
      double amount = 0.0;
      switch (policy.kind) {
        case NoiseKind::none: break;
        case NoiseKind::isotropic: amount = 1.0; break;
        case NoiseKind::isotropic_per_layer: amount = largest[i < block.bias() ? 0 : 1]; break;
        case NoiseKind::anisotropic: amount = std::fabs(gradient[i]); break;
        case NoiseKind::floored: amount = std::max(std::fabs(gradient[i]), policy.floor); break;
        case NoiseKind::fixed: amount = static_cast<double>((*policy.fixed)[i]); break;
      }
      variances[i] = variance_of(policy, policy.variance * amount, learning_rate);
    }
  }
  return variances;
}

}  // namespace sfumato
