#include "lab/nn/private_noise.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lab/nn/gradient_moments.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato::lab {
namespace {

void require_all_positive(const char* what, std::span<const double> values) {
  for (const double value : values) {
    if (!(std::isfinite(value) && value > 0.0)) {
      throw InvalidArgument(std::string(what) + " that are not finite and positive",
                            "Give positive numbers");
    }
  }
}

}  // namespace

LayerSplit layer_split(std::span<const double> clips, std::span<const double> sizes,
                       std::span<const double> weights, double mu) {
  if (clips.empty() || sizes.size() != clips.size() || weights.size() != clips.size()) {
    throw InvalidArgument("clips, sizes and weights of different numbers of layers",
                          "Give one of each per layer");
  }
  require_all_positive("clips", clips);
  require_all_positive("sizes", sizes);
  require_all_positive("weights", weights);
  require_all_positive("mu", {&mu, 1});
  double sum = 0.0, all = 0.0, squares = 0.0;
  for (std::size_t l = 0; l < clips.size(); ++l) {
    sum += clips[l] * std::sqrt(sizes[l] * weights[l]);
    all += sizes[l] * weights[l];
    squares += clips[l] * clips[l];
  }
  LayerSplit split{{}, sum * sum / (mu * mu), all * squares / (mu * mu)};
  for (std::size_t l = 0; l < clips.size(); ++l) {
    split.deviations.push_back(std::sqrt(clips[l] / std::sqrt(sizes[l] * weights[l]) * sum) / mu);
  }
  return split;
}

OneStepShape one_step_shape(std::span<const double> hessian,
                            std::span<const double> gradient_moment) {
  if (hessian.empty() || hessian.size() != gradient_moment.size()) {
    throw InvalidArgument("a Hessian and second moments of different sizes",
                          "Give one of each per coordinate");
  }
  require_all_positive("curvatures", hessian);
  require_all_positive("second moments", gradient_moment);
  OneStepShape shape;
  double trace = 0.0, mixed = 0.0, curvature = 0.0, moment = 0.0;
  for (std::size_t i = 0; i < hessian.size(); ++i) {
    shape.variances.push_back(std::sqrt(gradient_moment[i] / hessian[i]));
    trace += shape.variances.back();
    mixed += std::sqrt(gradient_moment[i] * hessian[i]);
    curvature += hessian[i];
    moment += gradient_moment[i];
  }
  for (double& v : shape.variances) v *= static_cast<double>(hessian.size()) / trace;
  shape.gain = curvature * moment / (mixed * mixed);
  return shape;
}

Clipping clipping_of(const NoisePolicy& policy) {
  if (policy.metric == PrivateMetric::per_layer) return {policy.layer_clips};
  return {{policy.clip}};
}

std::vector<double> block_deviations(const NoisePolicy& policy, const Network& network) {
  const std::size_t blocks = network.blocks().size();
  if (policy.metric != PrivateMetric::per_layer) {
    return std::vector<double>(blocks, policy.noise_multiplier * policy.clip);
  }
  std::vector<double> sizes;
  for (const ParameterBlock& block : network.blocks()) {
    sizes.push_back(static_cast<double>(block.size()));
  }
  const std::vector<double> weights(blocks, 1.0);
  return layer_split(policy.layer_clips, sizes, weights, 1.0 / policy.noise_multiplier).deviations;
}

double least_deviation(const NoisePolicy& policy, const Network& network) {
  const std::vector<double> deviations = block_deviations(policy, network);
  double shape = policy.metric == PrivateMetric::released ? GradientMoments::kLeastShape : 1.0;
  if (policy.fixed) {  // the factor of the variances is a float by itself
    const float least = *std::min_element(policy.fixed->begin(), policy.fixed->end());
    shape = std::min(1.0, static_cast<double>(least));
  }
  return *std::min_element(deviations.begin(), deviations.end()) * std::sqrt(shape);
}

bool holds_variance(double deviation) {
  return deviation * deviation >= static_cast<double>(std::numeric_limits<float>::min());
}

std::vector<float> inverse_shape(const NoisePolicy& policy) {
  std::vector<float> inverse;
  if (policy.kind != NoiseKind::clipped || !policy.fixed) return inverse;
  inverse.reserve(policy.fixed->size());
  for (const float variance : *policy.fixed) inverse.push_back(1.0F / variance);
  return inverse;
}

double contribution_of(const NoisePolicy& policy, const Network& network) {
  if (policy.metric != PrivateMetric::per_layer) return 1.0 / policy.noise_multiplier;
  const std::vector<double> deviations = block_deviations(policy, network);
  double square = 0.0;
  for (std::size_t b = 0; b < deviations.size(); ++b) {
    square += std::pow(policy.layer_clips[b] / deviations[b], 2);
  }
  return std::sqrt(square);
}

}  // namespace sfumato::lab
