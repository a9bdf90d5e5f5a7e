#include "lab/nn/private_metric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lab/nn/gradient_moments.hpp"
#include "sfumato/account/accountant/clipping.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato::lab {
namespace {

bool positive(double value) { return std::isfinite(value) && value > 0.0; }

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

double NoiseShape::variance(std::size_t parameter) const {
  auto variance = static_cast<double>((*variances)[parameter]);
  if (!factor) return variance;
  for (const std::vector<float>& column : *factor) {
    variance += static_cast<double>(column[parameter]) * static_cast<double>(column[parameter]);
  }
  return variance;
}

void require_shape(const NoiseShape& shape, const Network& network, bool positive,
                   const RefusePolicy& refuse) {
  const std::size_t parameters = network.parameter_count();
  if (!shape.variances) refuse("has no covariance", "Name a file written by `sfumato design`");
  if (shape.variances->size() != parameters) {
    refuse(fmt::format("its covariance is for {} parameters, the network has {}",
                       shape.variances->size(), parameters),
           "Design the noise for this network");
  }
  for (std::size_t i = 0; i < parameters; ++i) {
    const float v = (*shape.variances)[i];
    if (!(std::isfinite(v) && (positive ? std::isfinite(1.0F / v) && v > 0.0F : v >= 0.0F))) {
      refuse(fmt::format("its variance of {} is {}", network.parameter_name(i), v),
             positive ? "A metric needs variances that are finite and positive"
                      : "Variances are finite and not negative");
    }
  }
  if (!shape.factor) return;
  for (const std::vector<float>& column : *shape.factor) {
    if (column.size() != parameters) {
      refuse(fmt::format("its low-rank factor is for {} parameters, the network has {}",
                         column.size(), parameters),
             "Design the noise for this network");
    }
    if (!std::all_of(column.begin(), column.end(), [](float v) { return std::isfinite(v); })) {
      refuse("its low-rank factor is not finite in single precision", "Rescale the covariance");
    }
  }
}

std::vector<double> EuclideanMetric::deviations(double clip, double noise_multiplier,
                                                const Network& network) const {
  return std::vector<double>(network.blocks().size(), noise_multiplier * clip);
}

double EuclideanMetric::contribution(double /*clip*/, double noise_multiplier,
                                     const Network& /*network*/) const {
  return contribution_in_metric(1.0 / noise_multiplier);
}

void EuclideanMetric::require_valid(double clip, const Network& /*network*/,
                                    const RefusePolicy& refuse) const {
  if (positive(clip)) return;
  refuse(fmt::format("clip = {} is not a finite positive number", clip),
         "Give the largest norm of a record's gradient");
}

Clipping PerLayerMetric::clipping(double /*clip*/) const { return {clips}; }

std::vector<double> PerLayerMetric::deviations(double /*clip*/, double noise_multiplier,
                                               const Network& network) const {
  std::vector<double> sizes;
  for (const ParameterBlock& block : network.blocks()) {
    sizes.push_back(static_cast<double>(block.size()));
  }
  const std::vector<double> weights(sizes.size(), 1.0);
  return layer_split(clips, sizes, weights, 1.0 / noise_multiplier).deviations;
}

double PerLayerMetric::contribution(double clip, double noise_multiplier,
                                    const Network& network) const {
  return contribution_of_layers(clips, deviations(clip, noise_multiplier, network));
}

void PerLayerMetric::require_valid(double /*clip*/, const Network& network,
                                   const RefusePolicy& refuse) const {
  if (clips.size() != network.blocks().size()) {
    refuse(fmt::format("{} clips for {} layers with parameters", clips.size(),
                       network.blocks().size()),
           "Give one clip for each of them");
  }
  for (const double one : clips) {
    if (!positive(one)) refuse(fmt::format("clip = {} of a layer", one), "Clips are positive");
  }
}

double WhitenedMetric::least_shape() const {  // the factor of the variances is a float by itself
  const float least = *std::min_element(given.variances->begin(), given.variances->end());
  return std::min(1.0, static_cast<double>(least));
}

void WhitenedMetric::require_valid(double clip, const Network& network,
                                   const RefusePolicy& refuse) const {
  EuclideanMetric::require_valid(clip, network, refuse);
  require_shape(given, network, true, refuse);
}

std::string WhitenedMetric::assumption() const {
  return "the covariance was made without the private data; one that was designed for their "
         "gradients voids the guarantee.";
}

void LowRankMetric::require_valid(double clip, const Network& network,
                                  const RefusePolicy& refuse) const {
  WhitenedMetric::require_valid(clip, network, refuse);
  if (!given.factor) {
    refuse("has no low-rank factor", "Name a covariance of the form low_rank");
  }
}

double ReleasedGradientsMetric::least_shape() const { return GradientMoments::kLeastShape; }

void InputMomentsMetric::require_valid(double clip, const Network& network,
                                       const RefusePolicy& refuse) const {
  if (!positive(mu)) {
    refuse("the metric `input` is made of second moments that are released first, at a cost",
           "Give `metric_mu`, the mu of Gaussian privacy that the release may cost");
  }
  if (mu > 1e6) {
    refuse(fmt::format("`metric_mu` = {} is no privacy at all", mu),
           "Give the mu of Gaussian privacy that the release may cost, such as 0.5");
  }
  // Moments are summed in single precision, whose rounding they have a margin for as long as nothing under- or overflows.
  if (input_bound != 0.0 && !(input_bound >= 1e-12 && input_bound <= 1e12)) {
    refuse(fmt::format("`input_bound` = {} is not from 1e-12 to 1e12", input_bound),
           "Give the largest norm of an input, and rescale inputs that are not of this size");
  }
  if (!(floor >= 1e-6 && floor <= 1e6)) {
    refuse(fmt::format("`metric_floor` = {} is not from 1e-6 to 1e6", floor),
           "Give the floor of the eigenvalues in edges of their noise, such as 1");
  }
  EuclideanMetric::require_valid(clip, network, refuse);
}

std::string_view name(const TrainingMetric& metric) {
  return std::visit([](const auto& one) { return one.kName; }, metric);
}

std::string_view name(MetricLayers layers) {
  return layers == MetricLayers::first ? "first" : "all";
}

void PrivateNoise::require_valid(const Network& network, const RefusePolicy& refuse) const {
  if (!positive(noise_multiplier)) {
    refuse(fmt::format("noise_multiplier = {} is not a finite positive number", noise_multiplier),
           "Give the deviation of the noise over the clip");
  }
  std::visit([&](const auto& one) { one.require_valid(clip, network, refuse); }, metric);
}

Clipping PrivateNoise::clipping() const {
  return std::visit([&](const auto& one) { return one.clipping(clip); }, metric);
}

std::vector<double> PrivateNoise::deviations(const Network& network) const {
  return std::visit(
      [&](const auto& one) { return one.deviations(clip, noise_multiplier, network); }, metric);
}

double PrivateNoise::least_deviation(const Network& network) const {
  const std::vector<double> all = deviations(network);
  const double shape = std::visit([](const auto& one) { return one.least_shape(); }, metric);
  return *std::min_element(all.begin(), all.end()) * std::sqrt(shape);
}

double PrivateNoise::contribution(const Network& network) const {
  return std::visit(
      [&](const auto& one) { return one.contribution(clip, noise_multiplier, network); }, metric);
}

const NoiseShape* PrivateNoise::shape() const {
  return std::visit([](const auto& one) { return one.shape(); }, metric);
}

std::string PrivateNoise::assumption() const {
  return std::visit([](const auto& one) { return one.assumption(); }, metric);
}

bool PrivateNoise::learns() const {
  return std::visit([](const auto& one) { return one.kLearns; }, metric);
}

bool PrivateNoise::follows() const {
  return std::visit([](const auto& one) { return one.kFollows; }, metric);
}

bool holds_variance(double deviation) {
  return deviation * deviation >= static_cast<double>(std::numeric_limits<float>::min());
}

}  // namespace sfumato::lab
