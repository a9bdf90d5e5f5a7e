#include "lab/nn/gradient_canary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "lab/nn/private_metric.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato::lab {
namespace {

/// The coordinate with the number-th least noise in the metric: the low-rank part adds sum_k F_ik^2 / v_i to 1. The first of equals.
std::size_t quiet_coordinate(const NoiseShape& shape, std::size_t number) {
  std::vector<std::pair<double, std::size_t>> added(shape.variances->size());
  for (std::size_t i = 0; i < added.size(); ++i) {
    double squares = 0.0;
    for (const auto& column : *shape.factor) {
      squares += static_cast<double>(column[i]) * static_cast<double>(column[i]);
    }
    added[i] = {squares / static_cast<double>((*shape.variances)[i]), i};
  }
  const auto nth = added.begin() + static_cast<std::ptrdiff_t>(number);
  std::nth_element(added.begin(), nth, added.end());
  return nth->second;
}

}  // namespace

CanaryMu canary_mu(std::span<const double> variances, std::span<const double> canary, double clip,
                   double noise_multiplier, std::uint64_t steps) {
  const auto positive = [](double v) { return std::isfinite(v) && v > 0.0; };
  if (variances.size() != canary.size() || !positive(clip) || !positive(noise_multiplier) ||
      !std::all_of(variances.begin(), variances.end(), positive)) {
    throw InvalidArgument("a canary of another size than the noise, or noise that is not positive",
                          "Give positive variances, one for each coordinate of the canary");
  }
  double square = 0.0;
  for (std::size_t i = 0; i < canary.size(); ++i) square += canary[i] * canary[i] / variances[i];
  const double certified = std::sqrt(static_cast<double>(steps)) / noise_multiplier;
  return {certified * std::min(1.0, std::sqrt(square) / clip), certified};
}

GradientCanary gradient_canary(const NoisePolicy& policy, const Network& network,
                               std::size_t number, std::span<const float> shape) {
  if (!policy.is_private()) {
    throw InvalidArgument(
        "a gradient canary for noise whose size in a direction is not known beforehand",
        "Use it with policy = \"private\"");
  }
  const PrivateNoise& noise = policy.private_noise();
  const NoiseShape* given = noise.shape();
  if (given != nullptr) shape = *given->variances;
  const auto* factor = given != nullptr ? given->factor.get() : nullptr;
  const std::vector<double> deviations = noise.deviations(network);
  const Clipping clipping = noise.clipping();
  GradientCanary canary;
  for (std::size_t b = 0; b < clipping.clips.size(); ++b) {
    const std::size_t room =
        clipping.by_block() ? network.blocks()[b].size() : network.parameter_count();
    if (number >= room) {
      throw InvalidArgument(
          fmt::format("{} gradient canaries, but only {} parameters that are clipped together",
                      number + 1, room),
          "Plant as many canaries as there are parameters, or fewer");
    }
    const std::size_t at =
        factor != nullptr ? quiet_coordinate(*given, number) : network.blocks()[b].offset + number;
    const double root = shape.empty() ? 1.0 : std::sqrt(static_cast<double>(shape[at]));
    double variance = std::pow(deviations[b] * root, 2);
    if (factor != nullptr) {
      for (const auto& column : *factor) {
        variance += std::pow(deviations[b] * static_cast<double>(column[at]), 2);
      }
    }
    const double value = clipping.clips[b] * root;
    canary.coordinates.push_back(at);
    canary.values.push_back(static_cast<float>(value));
    canary.weights.push_back(value / variance);
  }
  return canary;
}

}  // namespace sfumato::lab
