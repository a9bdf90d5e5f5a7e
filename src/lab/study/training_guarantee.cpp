#include "lab/study/training_guarantee.hpp"

#include <algorithm>

#include "lab/nn/private_metric.hpp"
#include "sfumato/account/accountant/clipping.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/fit/sensitivity.hpp"

namespace sfumato::lab {

NeighbouringRelation relation_of(Adjacency adjacency) {
  return adjacency == Adjacency::remove ? NeighbouringRelation::zero_out
                                        : NeighbouringRelation::replace_one;
}

PrivateRelease release_of_moments(double mu, NeighbouringRelation relation) {
  return {GaussianNoise{multiplier_of_mu(mu, relation)}};
}

PrivateRelease release_of_training(const NoisePolicy& policy, const Network& network,
                                   const Training& training, std::size_t slots) {
  PrivateRelease release{
      GaussianNoise{multiplier_of(policy.private_noise().contribution(network))}};
  release.steps = training.iterations;
  const std::uint64_t per_epoch = std::max<std::uint64_t>(1, slots / training.batch_size);
  switch (training.batches) {
    case BatchScheme::full: release.sampler = Sampler::full; break;
    case BatchScheme::poisson:
      release.sampler = Sampler::poisson;
      release.sample_rate = static_cast<double>(training.batch_size) / static_cast<double>(slots);
      break;
    case BatchScheme::fixed_size:
      release.sampler = Sampler::fixed_size;
      release.records = slots;
      release.batch_size = training.batch_size;
      break;
    case BatchScheme::shuffled:
      release.sampler = Sampler::shuffle;
      release.steps = (training.iterations + per_epoch - 1) / per_epoch;
      break;
    case BatchScheme::shuffled_all:
      throw InvalidArgument(
          "a short last batch is divided by its own size, so that its noise and "
          "what a record contributes are others than the accountant's",
          "Use `sampler` = \"shuffle\", which leaves the remainder out, or \"poisson\"");
    case BatchScheme::with_replacement:
      throw InvalidArgument(
          "batches drawn with replacement can hold a record several times",
          "Draw them with `sampler` = \"poisson\", which has the smallest epsilon");
  }
  return release;
}

TrainingGuarantee training_guarantee(const NoisePolicy& policy, const Network& network,
                                     const Training& training, std::size_t slots,
                                     NeighbouringRelation relation) {
  if (!policy.is_private()) return {std::nullopt, what_a_guarantee_needs(policy.rule)};
  try {
    Accountant accountant(relation);
    if (const auto* input = policy.metric<InputMomentsMetric>()) {
      accountant.compose(release_of_moments(input->mu, relation));
    }
    accountant.compose(release_of_training(policy, network, training, slots));
    return {std::move(accountant), {}};
  } catch (const InvalidArgument& error) {
    return {std::nullopt, error.advice()};
  }
}

}  // namespace sfumato::lab
