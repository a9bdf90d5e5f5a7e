#include "lab/nn/noise_policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include "lab/nn/private_noise.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato::lab {
namespace {

constexpr std::array<std::pair<NoiseKind, std::string_view>, 7> kKinds = {
    {{NoiseKind::none, "none"},
     {NoiseKind::isotropic, "isotropic"},
     {NoiseKind::isotropic_per_layer, "isotropic_per_layer"},
     {NoiseKind::anisotropic, "anisotropic"},
     {NoiseKind::floored, "floored"},
     {NoiseKind::fixed, "fixed"},
     {NoiseKind::clipped, "private"}}};
constexpr std::array<std::pair<PrivateMetric, std::string_view>, 6> kMetrics = {
    {{PrivateMetric::isotropic, "isotropic"},
     {PrivateMetric::per_layer, "per_layer"},
     {PrivateMetric::whitened, "whitened"},
     {PrivateMetric::low_rank, "low_rank"},
     {PrivateMetric::released, "released"},
     {PrivateMetric::input, "input"}}};
constexpr std::array<std::pair<NoiseReading, std::string_view>, 4> kReadings = {
    {{NoiseReading::variance, "variance"},
     {NoiseReading::deviation, "deviation"},
     {NoiseReading::times_learning_rate, "times_learning_rate"},
     {NoiseReading::times_root_learning_rate, "times_root_learning_rate"}}};

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
    case NoiseReading::times_root_learning_rate: return amount * learning_rate;
  }
  throw InternalError("an unknown reading of the noise scale");
}

/// The variances that stand for sigma^2 amount(i). What does not depend on i is decided outside of the loops,
/// which are then vectors.
template <class Amount>
void fill_variances(const NoisePolicy& policy, double learning_rate, std::span<double> variances,
                    const Amount& amount) {
  const double sigma2 = policy.variance;
  switch (policy.reading) {
    case NoiseReading::variance:
      for (std::size_t i = 0; i < variances.size(); ++i) variances[i] = sigma2 * amount(i);
      return;
    case NoiseReading::deviation:
      for (std::size_t i = 0; i < variances.size(); ++i) {
        const double deviation = sigma2 * amount(i);
        variances[i] = deviation * deviation;
      }
      return;
    case NoiseReading::times_learning_rate:
      for (std::size_t i = 0; i < variances.size(); ++i) {
        variances[i] = sigma2 * amount(i) * learning_rate * learning_rate;
      }
      return;
    case NoiseReading::times_root_learning_rate:
      for (std::size_t i = 0; i < variances.size(); ++i) {
        variances[i] = sigma2 * amount(i) * learning_rate;
      }
      return;
  }
  throw InternalError("an unknown reading of the noise scale");
}

/// max |value|, in four chains.
double largest_size(std::span<const double> values) {
  double largest[4] = {};
  for (std::size_t i = 0; i < values.size(); ++i) {
    largest[i % 4] = std::max(largest[i % 4], std::fabs(values[i]));
  }
  return std::max(std::max(largest[0], largest[1]), std::max(largest[2], largest[3]));
}

}  // namespace

std::string_view name(NoiseKind kind) { return name_in(kind, kKinds); }
std::string_view name(NoiseReading reading) { return name_in(reading, kReadings); }
std::string_view name(PrivateMetric metric) { return name_in(metric, kMetrics); }
std::string_view name(MetricLayers layers) {
  return layers == MetricLayers::first ? "first" : "all";
}

namespace {

using Refuse = std::function<void(const std::string& problem, const std::string& remedy)>;

void require_variances(const NoisePolicy& policy, const Network& network, bool positive,
                       const Refuse& refuse) {
  if (!policy.fixed) refuse("has no covariance", "Name a file written by `sfumato design`");
  if (policy.fixed->size() != network.parameter_count()) {
    refuse(fmt::format("its covariance is for {} parameters, the network has {}",
                       policy.fixed->size(), network.parameter_count()),
           "Design the noise for this network");
  }
  for (std::size_t i = 0; i < policy.fixed->size(); ++i) {
    const float v = (*policy.fixed)[i];
    if (!(std::isfinite(v) && (positive ? std::isfinite(1.0F / v) && v > 0.0F : v >= 0.0F))) {
      refuse(fmt::format("its variance of {} is {}", network.parameter_name(i), v),
             positive ? "A metric needs variances that are finite and positive"
                      : "Variances are finite and not negative");
    }
  }
}

void require_factor(const NoisePolicy& policy, const Network& network, const Refuse& refuse) {
  for (const std::vector<float>& column : *policy.factor) {
    if (column.size() != network.parameter_count()) {
      refuse(fmt::format("its low-rank factor is for {} parameters, the network has {}",
                         column.size(), network.parameter_count()),
             "Design the noise for this network");
    }
    if (!std::all_of(column.begin(), column.end(), [](float v) { return std::isfinite(v); })) {
      refuse("its low-rank factor is not finite in single precision", "Rescale the covariance");
    }
  }
}

void require_clipped(const NoisePolicy& policy, const Network& network, const Refuse& refuse) {
  const auto positive = [](double value) { return std::isfinite(value) && value > 0.0; };
  if (policy.metric == PrivateMetric::input && !positive(policy.metric_mu)) {
    refuse("the metric `input` is made of second moments that are released first, at a cost",
           "Give `metric_mu`, the mu of Gaussian privacy that the release may cost");
  }
  if (policy.metric == PrivateMetric::input) {
    if (policy.metric_mu > 1e6) {
      refuse(fmt::format("`metric_mu` = {} is no privacy at all", policy.metric_mu),
             "Give the mu of Gaussian privacy that the release may cost, such as 0.5");
    }
    // Moments are summed in single precision, whose rounding they have a margin for as long as nothing under- or overflows.
    if (policy.input_bound != 0.0 && !(policy.input_bound >= 1e-12 && policy.input_bound <= 1e12)) {
      refuse(fmt::format("`input_bound` = {} is not from 1e-12 to 1e12", policy.input_bound),
             "Give the largest norm of an input, and rescale inputs that are not of this size");
    }
    if (!(policy.metric_floor >= 1e-6 && policy.metric_floor <= 1e6)) {
      refuse(fmt::format("`metric_floor` = {} is not from 1e-6 to 1e6", policy.metric_floor),
             "Give the floor of the eigenvalues in edges of their noise, such as 1");
    }
  }
  if (!positive(policy.noise_multiplier)) {
    refuse(fmt::format("noise_multiplier = {} is not a finite positive number",
                       policy.noise_multiplier),
           "Give the deviation of the noise over the clip");
  }
  if (policy.metric == PrivateMetric::per_layer) {
    if (policy.layer_clips.size() != network.blocks().size()) {
      refuse(fmt::format("{} clips for {} layers with parameters", policy.layer_clips.size(),
                         network.blocks().size()),
             "Give one clip for each of them");
    }
    for (const double clip : policy.layer_clips) {
      if (!positive(clip)) refuse(fmt::format("clip = {} of a layer", clip), "Clips are positive");
    }
  } else if (!positive(policy.clip)) {
    refuse(fmt::format("clip = {} is not a finite positive number", policy.clip),
           "Give the largest norm of a record's gradient");
  }
  const bool shaped =
      policy.metric == PrivateMetric::whitened || policy.metric == PrivateMetric::low_rank;
  if (shaped) require_variances(policy, network, true, refuse);
  if (policy.metric == PrivateMetric::low_rank) {
    if (!policy.factor) refuse("has no low-rank factor", "Name a covariance of the form low_rank");
    require_factor(policy, network, refuse);
  }
}

}  // namespace

void require_valid(const NoisePolicy& policy, const Network& network, const Where& where) {
  const auto refuse = [&](const std::string& problem, const std::string& remedy) {
    throw InvalidArgument(fmt::format("noise policy \"{}\": {}", policy.name, problem), remedy,
                          where);
  };
  if (!(std::isfinite(policy.variance) && policy.variance >= 0.0)) {
    refuse(fmt::format("variance = {} is not a finite number from 0 on", policy.variance),
           "Give sigma^2, the square of the noise's scale");
  }
  if (policy.kind == NoiseKind::clipped) return require_clipped(policy, network, refuse);
  if (policy.kind != NoiseKind::none && policy.variance == 0.0) {
    refuse("variance = 0", "Use the policy `none` for training without noise");
  }
  if (policy.kind == NoiseKind::floored && !(std::isfinite(policy.floor) && policy.floor > 0.0)) {
    refuse(fmt::format("floor = {} is not a finite positive number", policy.floor),
           "Give the least |gradient| that the noise is scaled by");
  }
  if (policy.reading == NoiseReading::deviation &&
      (policy.kind == NoiseKind::floored || policy.kind == NoiseKind::fixed)) {
    refuse(fmt::format("reading = `deviation` has no meaning for `{}`", lab::name(policy.kind)),
           "Leave it out: the scale is a variance there");
  }
  if (policy.kind != NoiseKind::fixed) return;
  require_variances(policy, network, false, refuse);
  if (policy.factor) require_factor(policy, network, refuse);
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
    case NoiseKind::clipped:
      return "Gradients are clipped record by record before noise is added: the accountant says "
             "what "
             "is guaranteed.";
  }
  throw InternalError("an unknown noise policy");
}

BlockScales noise_scales(const NoisePolicy& policy, double learning_rate,
                         float largest_weight_gradient, float largest_bias_gradient) {
  const double sigma2 = policy.variance;
  NoiseScale scale;
  const auto constant = [&](double amount) {
    return static_cast<float>(variance_of(policy, amount, learning_rate));
  };
  switch (policy.kind) {
    case NoiseKind::none: break;
    case NoiseKind::isotropic: scale.constant = constant(sigma2); break;
    case NoiseKind::isotropic_per_layer: {
      const auto whole =
          static_cast<double>(std::max(largest_weight_gradient, largest_bias_gradient));
      const auto weights =
          policy.bias_in_layer ? whole : static_cast<double>(largest_weight_gradient);
      const auto biases = policy.bias_in_layer ? whole : static_cast<double>(largest_bias_gradient);
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
    case NoiseKind::clipped:
      throw InternalError("the noise of clipped gradients has no such scale");
  }
  return {scale, scale};
}

namespace {

/// Of a parameter, by the policy's own shape: the low-rank part counts.
double variance_in_shape(const NoisePolicy& policy, std::size_t i) {
  auto variance = static_cast<double>((*policy.fixed)[i]);
  if (!policy.factor) return variance;
  for (const std::vector<float>& column : *policy.factor) {
    variance += static_cast<double>(column[i]) * static_cast<double>(column[i]);
  }
  return variance;
}

}  // namespace

std::vector<double> step_variances(const NoisePolicy& policy, double learning_rate,
                                   const Network& network, std::span<const double> gradient,
                                   double unit) {
  std::vector<double> variances(gradient.size());
  if (policy.kind == NoiseKind::clipped) {
    const std::vector<double> deviations = block_deviations(policy, network);
    for (std::size_t b = 0; b < deviations.size(); ++b) {
      const ParameterBlock& block = network.blocks()[b];
      const double variance = std::pow(learning_rate * unit * deviations[b], 2);
      for (std::size_t i = block.offset; i < block.offset + block.size(); ++i) {
        variances[i] = variance * (policy.fixed ? variance_in_shape(policy, i) : 1.0);
      }
    }
    return variances;
  }
  for (const ParameterBlock& block : network.blocks()) {
    const std::size_t begin = block.offset, bias = block.bias(), end = begin + block.size();
    const auto fill = [&](std::size_t from, std::size_t to, auto amount) {
      fill_variances(policy, learning_rate, std::span(variances).subspan(from, to - from),
                     [&](std::size_t i) { return amount(from + i); });
    };
    switch (policy.kind) {
      case NoiseKind::none: break;
      case NoiseKind::isotropic: fill(begin, end, [](std::size_t) { return 1.0; }); break;
      case NoiseKind::isotropic_per_layer: {
        double weights = largest_size(gradient.subspan(begin, bias - begin));
        double biases = largest_size(gradient.subspan(bias, end - bias));
        if (policy.bias_in_layer) weights = biases = std::max(weights, biases);
        fill(begin, bias, [weights](std::size_t) { return weights; });
        fill(bias, end, [biases](std::size_t) { return biases; });
        break;
      }
      case NoiseKind::anisotropic:
        fill(begin, end, [&](std::size_t i) { return std::fabs(gradient[i]); });
        break;
      case NoiseKind::floored:
        fill(begin, end,
             [&](std::size_t i) { return std::max(std::fabs(gradient[i]), policy.floor); });
        break;
      case NoiseKind::fixed:
        fill(begin, end, [&](std::size_t i) { return variance_in_shape(policy, i); });
        break;
      case NoiseKind::clipped: break;  // above
    }
  }
  return variances;
}

}  // namespace sfumato::lab
