#include "lab/nn/group/bundled_models.hpp"

#include <algorithm>
#include <utility>

#include "lab/nn/network.hpp"
#include "lab/nn/private_metric.hpp"

namespace sfumato::lab {
namespace {

/// The bundles a number of models is cut into: as many of eight as there are, then four, two, one.
std::vector<std::size_t> bundle_sizes(std::size_t models) {
  std::vector<std::size_t> sizes(models / 8, 8);
  for (const std::size_t size : {4U, 2U, 1U}) {
    if ((models & size) != 0) sizes.push_back(size);
  }
  return sizes;
}

/// Models that may be in a bundle together: of one way to clip, and with one array of fixed variances at most.
std::vector<std::vector<std::size_t>> bundle_sets(const std::vector<NoisePolicy>& policies,
                                                  const std::vector<ModelRecord>& models) {
  using Key = std::pair<bool, const void*>;  ///< clipped, and by what array
  std::vector<Key> keys = {{false, nullptr}};
  std::vector<std::vector<std::size_t>> sets(1);
  const auto set_of = [&](const Key& key) {
    const auto found = std::find(keys.begin(), keys.end(), key);
    const auto set = static_cast<std::size_t>(found - keys.begin());
    if (found == keys.end()) {
      keys.push_back(key);
      sets.emplace_back();
    }
    return set;
  };
  for (std::size_t m = 0; m < models.size(); ++m) {
    const NoisePolicy& policy = policies[models[m].policy];
    const NoiseShape* shape = shape_of(policy.rule);
    const void* fixed = shape != nullptr ? shape->variances.get() : nullptr;
    if (policy.is_private()) {
      // Norms are those of the whole bundle: a metric that learns is alone, Euclidean ones are together.
      if (policy.private_noise().learns()) fixed = &models[m];
      sets[set_of({true, fixed})].push_back(m);
      continue;
    }
    std::size_t set = 0;
    if (fixed != nullptr) {
      if (keys[0].second == nullptr) keys[0].second = fixed;
      set = set_of({false, fixed});
    }
    sets[set].push_back(m);
  }
  sets.erase(std::remove_if(sets.begin(), sets.end(), [](const auto& set) { return set.empty(); }),
             sets.end());
  return sets;
}

/// One over the variances of a shape; empty where the metric is Euclidean.
std::vector<float> inverse_of(const NoiseShape* shape) {
  std::vector<float> inverse;
  if (shape == nullptr) return inverse;
  inverse.reserve(shape->variances->size());
  for (const float variance : *shape->variances) inverse.push_back(1.0F / variance);
  return inverse;
}

void prepare_clipping(const Network& network, const Training& training, BundledModels& bundled) {
  const NoisePolicy& first = bundled.policies.front();
  bundled.by_velocity = uses_velocity(first, training);
  bundled.clipped = first.is_private();
  if (!bundled.clipped) return;
  std::vector<Clipping> clipping;
  for (const NoisePolicy& policy : bundled.policies) {
    clipping.push_back(policy.private_noise().clipping());
    bundled.deviations.push_back(policy.private_noise().deviations(network));
  }
  bundled.bundle.clip(std::move(clipping), inverse_of(shape_of(first.rule)));
  if (first.private_noise().learns()) {
    bundled.released.emplace(network.parameter_count());
    bundled.shape.require(network.parameter_count());
  }
}

}  // namespace

bool uses_velocity(const NoisePolicy& policy, const Training& training) {
  return training.momentum > 0.0 || (policy.is_private() && policy.private_noise().learns());
}

std::vector<BundledModels> bundle_models(const Network& network,
                                         const std::vector<NoisePolicy>& policies,
                                         const std::vector<ModelRecord>& models,
                                         const Training& training) {
  const std::vector<float> start =
      initial_parameters(network, training.init_seed.value_or(training.seed));
  std::vector<BundledModels> bundles;
  for (const std::vector<std::size_t>& set : bundle_sets(policies, models)) {
    std::size_t first = 0;
    for (const std::size_t size : bundle_sizes(set.size())) {
      BundledModels bundled{{}, Bundle(network, size)};
      for (std::size_t m = 0; m < size; ++m) {
        bundled.members.push_back(set[first + m]);
        bundled.policies.push_back(policies[models[set[first + m]].policy]);
        bundled.bundle.set_parameters(m, start);
      }
      prepare_clipping(network, training, bundled);
      bundles.push_back(std::move(bundled));
      first += size;
    }
  }
  return bundles;
}

}  // namespace sfumato::lab
