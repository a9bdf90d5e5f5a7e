#include "lab/nn/group/requirements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/nn/gradient_canary.hpp"
#include "lab/nn/group/bundled_models.hpp"
#include "lab/nn/private_metric.hpp"

namespace sfumato::lab {
namespace {

void require_optimiser(const Network& network, const std::vector<NoisePolicy>& policies,
                       const Training& training, const Where& where) {
  if (!(training.momentum >= 0.0 && training.momentum < 1.0)) {
    throw InvalidArgument(fmt::format("`momentum` = {} is not in [0, 1)", training.momentum),
                          "Give the weight of the steps before", where);
  }
  if (training.average_last > training.iterations) {
    throw InvalidArgument(fmt::format("`average_last` = {} is more than the {} iterates there are",
                                      training.average_last, training.iterations),
                          "Average at most all of them", where);
  }
  for (const NoisePolicy& policy : policies) {
    const bool on_gradient = policy.is_private() || std::holds_alternative<NoNoise>(policy.rule);
    if (training.momentum > 0.0 && !on_gradient) {
      throw InvalidArgument(fmt::format("`momentum` = {} with the noise policy \"{}\"",
                                        training.momentum, policy.name),
                            "Use momentum with the policies none and private", where);
    }
    const bool follows = policy.is_private() && policy.private_noise().follows();
    if (follows && (training.path_kl || training.gradient_differences)) {
      throw InvalidArgument("the path KL of noise whose shape follows what was released before",
                            "Leave path_kl out: the accountant's bound holds", where);
    }
    const std::size_t canaries = training.canary_slots.size();
    if (canaries > 0) (void)gradient_canary(policy, network, canaries - 1);  // refuses
    if (canaries > 0 &&
        (training.path_kl || training.gradient_differences || training.momentum > 0.0)) {
      throw InvalidArgument("a gradient canary with the path KL or with momentum",
                            "Leave path_kl, gradient_differences and momentum out", where);
    }
    const NoiseShape* shape = shape_of(policy.rule);
    const bool joint = shape != nullptr && shape->factor;
    if ((joint || training.momentum > 0.0) && training.path_kl) {
      throw InvalidArgument(
          "the path KL of noise that is not independent from parameter to parameter, or has "
          "momentum",
          policy.is_private() ? "Leave path_kl out: the accountant's bound holds"
                              : "Leave path_kl out",
          where);
    }
  }
}

/// Noise that is not hardened is added to the gradient in single precision, which has to hold it.
void require_noise_that_is_held(const Network& network, const std::vector<NoisePolicy>& policies,
                                const Training& training, std::size_t slots, const Where& where) {
  const std::size_t batch = training.batches == BatchScheme::full ? slots : training.batch_size;
  const double unit = training.loss == LossScale::mean ? 1.0 / static_cast<double>(batch) : 1.0;
  for (const NoisePolicy& policy : policies) {
    if (!policy.is_private()) continue;
    const double deviation = policy.private_noise().least_deviation(network) * unit;
    if (holds_variance(deviation)) continue;
    throw InvalidArgument(
        fmt::format("noise of deviation {:.3g} on a gradient is too small for single precision",
                    deviation),
        "Raise the clip or the noise multiplier, or train hardened", where);
  }
}

void require_hardened(const std::vector<NoisePolicy>& policies, const Training& training,
                      const Where& where) {
  const auto is_private = [](const NoisePolicy& policy) { return policy.is_private(); };
  if (!training.key || !std::all_of(policies.begin(), policies.end(), is_private)) {
    throw InvalidArgument("hardened noise without a key, or of a policy that is not private",
                          "Train with policy = \"private\" and noise of the operating system",
                          where);
  }
  if (!training.canary_slots.empty() || training.path_kl || training.gradient_differences) {
    throw InvalidArgument("hardened noise with canaries, the path KL or gradient differences",
                          "Measure with noise in floating point, which has the same guarantee",
                          where);
  }
}

}  // namespace

void require_trainable(const Network& network, const TrainingData& data,
                       const std::vector<NoisePolicy>& policies, const Training& training,
                       const Where& where) {
  if (network.input() != data.store.shape() &&
      network.input().size() != data.store.shape().size()) {
    throw InvalidArgument(
        fmt::format("the first layer `{}` takes records of {} numbers, the data have {}",
                    network.layers().front().name, network.input().text(),
                    data.store.shape().text()),
        "Choose a network for these data", where);
  }
  if (network.classes() < data.classes) {
    throw InvalidArgument(
        fmt::format("the last layer `{}` has {} outputs, the data {} classes",
                    network.layers().back().name, network.classes(), data.classes),
        "Give it one output per class", where);
  }
  if (policies.empty()) {
    throw InvalidArgument("no noise policy", "Give at least the policy `none`", where);
  }
  for (const NoisePolicy& policy : policies) require_valid(policy, network, where);
  if (!(std::isfinite(training.learning_rate) && training.learning_rate > 0.0)) {
    throw InvalidArgument(
        fmt::format("learning_rate = {} is not a finite positive number", training.learning_rate),
        "Give the factor of the gradient in a step", where);
  }
  require_optimiser(network, policies, training, where);
  if (training.hardened) {
    require_hardened(policies, training, where);
  } else {
    require_noise_that_is_held(network, policies, training, data.slots, where);
  }
  if ((training.path_kl || training.gradient_differences) && data.worlds.size() != 2) {
    throw InvalidArgument(
        fmt::format("the path KL compares D and D', there are {} data sets", data.worlds.size()),
        "Train in D and D', or leave the path KL out", where);
  }
}

}  // namespace sfumato::lab
