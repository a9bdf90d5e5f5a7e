#include "sfumato/study/input_metric_training.hpp"

#include <algorithm>
#include <numeric>

#include "sfumato/random/release_bits.hpp"
#include "sfumato/study/input_metric.hpp"

namespace sfumato {
namespace {

bool by_inputs(const NoisePolicy& policy) {
  return policy.kind == NoiseKind::clipped && policy.metric == PrivateMetric::input;
}

/// One world's records in the metric, numbered by their slots; those that stand in a slot's place come behind.
std::shared_ptr<const TrainingData> whitened_data(const GroupMaterial& material, const World& world,
                                                  const InputMetric& metric) {
  Slots slots = material.slots;
  World renumbered = world;
  std::vector<std::uint32_t> records = slots.records;
  for (SlotChange& change : renumbered.changes) {
    if (change.empty) continue;
    records.push_back(change.record);
    change.record = static_cast<std::uint32_t>(records.size() - 1);
  }
  std::iota(slots.records.begin(), slots.records.end(), std::uint32_t{0});
  return std::make_shared<const TrainingData>(
      whitened(material.network, material.set, metric, records), slots, std::vector{renumbered});
}

/// Puts model `from` of a part's state in place `to` of the whole.
void put_model(GroupState& whole, std::size_t to, GroupState& part, std::size_t from) {
  const ModelRecord place = whole.models[to];
  whole.parameters[to] = std::move(part.parameters[from]);
  whole.velocities[to] = std::move(part.velocities[from]);
  whole.averages[to] = std::move(part.averages[from]);
  whole.moments[to] = std::move(part.moments[from]);
  whole.models[to] = std::move(part.models[from]);
  whole.models[to].policy = place.policy;
  whole.models[to].world = place.world;
}

}  // namespace

bool train_to_end(TrialGroup& group, const GroupMaterial& material, Observer& observer) {
  const std::uint64_t end = material.training.iterations;
  if (std::none_of(material.policies.begin(), material.policies.end(), by_inputs)) {
    group.train_until(end, observer);
    return group.step() >= end;
  }
  const std::size_t worlds = material.data->worlds.size();
  GroupState whole = group.state();
  std::vector<NoisePolicy> others;
  std::vector<std::size_t> places;
  for (std::size_t p = 0; p < material.policies.size(); ++p) {
    const NoisePolicy& policy = material.policies[p];
    if (!by_inputs(policy)) {
      others.push_back(policy);
      places.push_back(p);
      continue;
    }
    for (std::size_t w = 0; w < worlds; ++w) {
      const World& world = material.data->worlds[w];
      ReleaseBits bits(
          ReleaseKey::from_seed(material.training.noise_seed.value_or(material.training.seed)),
          kMomentStream);
      const InputMetric metric =
          release_input_metric(material.network, material.set, material.slots, world, policy,
                               material.relation, NoiseMode::gaussian, bits, observer);
      TrialGroup one(whitened_network(material.network), whitened_data(material, world, metric),
                     {policy}, material.training);
      one.train_until(end, observer);
      if (one.step() < end) return false;
      GroupState state = one.state();
      state.parameters.front() =
          unwhitened(material.network, std::move(state.parameters.front()), metric);
      put_model(whole, p * worlds + w, state, 0);
    }
  }
  if (!others.empty()) {
    TrialGroup rest(material.network, material.data, others, material.training);
    rest.train_until(end, observer);
    if (rest.step() < end) return false;
    GroupState state = rest.state();
    for (std::size_t i = 0; i < others.size(); ++i) {
      for (std::size_t w = 0; w < worlds; ++w) {
        put_model(whole, places[i] * worlds + w, state, i * worlds + w);
      }
    }
  }
  whole.step = end;
  group.restore(std::move(whole));
  return true;
}

}  // namespace sfumato
