#include "lab/study/input_metric_training.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "lab/nn/initialise.hpp"
#include "lab/study/layer_metrics.hpp"
#include "sfumato/random/release_bits.hpp"

namespace sfumato::lab {
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

/// Releases a policy's metric and trains its model in one world; nothing if the observer asked to stop.
std::optional<GroupState> trained_in_metric(const GroupMaterial& material, const World& world,
                                            const NoisePolicy& policy, Observer& observer) {
  const Training& training = material.training;
  ReleaseBits bits(ReleaseKey::from_seed(training.noise_seed.value_or(training.seed)),
                   kMomentStream);
  LayerMetrics metrics = {release_input_metric(material.network, material.set, material.slots,
                                               world, policy, material.relation,
                                               NoiseMode::gaussian, bits, observer)};
  const auto data = whitened_data(material, world, metrics.front());
  release_deeper_metrics(
      material.network,
      initial_parameters(material.network, training.init_seed.value_or(training.seed)), *data,
      policy, material.relation, NoiseMode::gaussian, bits, observer, metrics);
  TrialGroup one(whitened_network(material.network, metrics), data, {policy}, training);
  one.train_until(training.iterations, observer);
  if (one.step() < training.iterations) return std::nullopt;
  GroupState state = one.state();
  state.parameters.front() =
      unwhitened(material.network, std::move(state.parameters.front()), metrics);
  return state;
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
      std::optional<GroupState> state =
          trained_in_metric(material, material.data->worlds[w], policy, observer);
      if (!state) return false;
      put_model(whole, p * worlds + w, *state, 0);
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

}  // namespace sfumato::lab
