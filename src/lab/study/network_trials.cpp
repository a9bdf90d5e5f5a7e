#include "lab/study/network_trials.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "lab/nn/exact_gradient.hpp"
#include "lab/nn/group/requirements.hpp"
#include "lab/nn/network.hpp"
#include "lab/nn/slots.hpp"
#include "lab/nn/trial_group.hpp"
#include "lab/study/layer_metrics.hpp"
#include "lab/study/measures.hpp"
#include "lab/study/training_guarantee.hpp"
#include "sfumato/account/accountant/release.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/data/labelled_set.hpp"
#include "sfumato/random/release_bits.hpp"

namespace sfumato::lab {
namespace {

/// What a group was made of.
struct GroupProblem {
  const Network& network;
  const LabelledSet& set;
  const Slots& slots;
  std::shared_ptr<const TrainingData> data;
  const std::vector<NoisePolicy>& policies;
  const Training& training;
  NeighbouringRelation relation;
};

bool by_inputs(const NoisePolicy& policy) { return policy.metric<InputMomentsMetric>() != nullptr; }

/// One world's records in the metric, numbered by their slots; those that stand in a slot's place come behind.
std::shared_ptr<const TrainingData> whitened_data(const GroupProblem& problem, const World& world,
                                                  const InputMetric& metric) {
  Slots slots = problem.slots;
  World renumbered = world;
  std::vector<std::uint32_t> records = slots.records;
  for (SlotChange& change : renumbered.changes) {
    if (change.empty) continue;
    records.push_back(change.record);
    change.record = static_cast<std::uint32_t>(records.size() - 1);
  }
  std::iota(slots.records.begin(), slots.records.end(), std::uint32_t{0});
  return std::make_shared<const TrainingData>(
      whitened(problem.network, problem.set, metric, records), slots, std::vector{renumbered});
}

/// Releases a policy's metric and trains its model in one world; nothing if the observer asked to stop.
std::optional<GroupState> trained_in_metric(const GroupProblem& problem, const World& world,
                                            const NoisePolicy& policy, Observer& observer) {
  const Training& training = problem.training;
  ReleaseBits bits(ReleaseKey::from_seed(training.noise_seed.value_or(training.seed)),
                   kMomentStream);
  const InputMomentsMetric& metric = *policy.metric<InputMomentsMetric>();
  const ReleaseNoise noise{problem.relation, NoiseMode::gaussian, bits};
  LayerMetrics metrics = {release_input_metric(problem.network, {problem.set, problem.slots, world},
                                               metric, noise, observer)};
  const auto data = whitened_data(problem, world, metrics.front());
  release_deeper_metrics(
      problem.network,
      initial_parameters(problem.network, training.init_seed.value_or(training.seed)), *data,
      metric, noise, observer, metrics);
  TrialGroup one(whitened_network(problem.network, metrics), data, {policy}, training);
  one.train_until(training.iterations, observer);
  if (one.step() < training.iterations) return std::nullopt;
  GroupState state = one.state();
  state.parameters.front() =
      unwhitened(problem.network, std::move(state.parameters.front()), metrics);
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

/// Trains the group to its end. A model with the metric `input` is trained by itself, in coordinates whitened by the second moments that its own
/// world released, with noise of the seed; the group then holds it as a network on the inputs as they are (Spec §23.4).
/// Returns  false if the observer asked to stop, and then the group is not trained.
bool train_to_end(TrialGroup& group, const GroupProblem& problem, Observer& observer) {
  const std::uint64_t end = problem.training.iterations;
  if (std::none_of(problem.policies.begin(), problem.policies.end(), by_inputs)) {
    group.train_until(end, observer);
    return group.step() >= end;
  }
  const std::size_t worlds = problem.data->worlds.size();
  GroupState whole = group.state();
  std::vector<NoisePolicy> others;
  std::vector<std::size_t> places;
  for (std::size_t p = 0; p < problem.policies.size(); ++p) {
    const NoisePolicy& policy = problem.policies[p];
    if (!by_inputs(policy)) {
      others.push_back(policy);
      places.push_back(p);
      continue;
    }
    for (std::size_t w = 0; w < worlds; ++w) {
      std::optional<GroupState> state =
          trained_in_metric(problem, problem.data->worlds[w], policy, observer);
      if (!state) return false;
      put_model(whole, p * worlds + w, *state, 0);
    }
  }
  if (!others.empty()) {
    TrialGroup rest(problem.network, problem.data, others, problem.training);
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

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::vector<std::uint32_t> all_records(const LabelledSet& set, std::size_t most) {
  std::vector<std::uint32_t> records(most == 0 ? set.count() : std::min(most, set.count()));
  for (std::size_t i = 0; i < records.size(); ++i) records[i] = static_cast<std::uint32_t>(i);
  return records;
}

std::vector<std::uint8_t> first_labels(const LabelledSet& set, std::size_t count) {
  return {set.labels.begin(), set.labels.begin() + static_cast<std::ptrdiff_t>(count)};
}

/// log(p / (1 - p)) of p = exp(-loss), without losing p near 0 or 1.
double margin(double loss) { return -loss - std::log(-std::expm1(-loss)); }

/// The scores that need the weights themselves, in double precision.
void score_weights(const Network& network, const std::vector<float>& weights,
                   const std::vector<float>& start, std::span<const float> inputs,
                   std::uint8_t label, std::vector<NamedScore>& scores) {
  const std::vector<double> record(inputs.begin(), inputs.end());
  const std::vector<double> now(weights.begin(), weights.end());
  const std::vector<double> before(start.begin(), start.end());
  double norm = 0.0, along = 0.0, start_norm = 0.0;
  for (const double g : record_gradient(network, now, {record, label}).gradient) norm += g * g;
  const std::vector<double> first = record_gradient(network, before, {record, label}).gradient;
  for (std::size_t i = 0; i < first.size(); ++i) {
    along += (now[i] - before[i]) * first[i];
    start_norm += first[i] * first[i];
  }
  scores.push_back({"gradient_norm", -std::sqrt(norm)});
  scores.push_back({"projection", start_norm > 0.0 ? -along / std::sqrt(start_norm) : 0.0});
}

/// Curvature on the model's own world, sensitivity to the differing record, minibatch noise (Spec §10).
void score_flatness(const Network& network, const std::vector<float>& weights,
                    const WorldRecords& own, const WorldRecords& d, const WorldRecords& d_prime,
                    const Training& training, std::vector<NamedScore>& scores) {
  const HessianMeasure hessian =
      measure_hessian(network, weights, own, training.loss, training.seed);
  scores.push_back({"hessian_trace", hessian.trace.value.value});
  scores.push_back({"hessian_largest", hessian.largest_eigenvalue.value.value});
  const FlatnessMeasure flatness = measure_flatness(network, weights, d, d_prime);
  scores.push_back({"mixed_norm", flatness.mixed_norm});
  scores.push_back({"gradient_difference", flatness.gradient_difference});
  if (const auto covariance = measure_covariance(network, weights, own, training)) {
    scores.push_back({"covariance_trace", covariance->trace});
    scores.push_back({"covariance_largest", covariance->largest_eigenvalue});
  }
}

/// The parameters that made the first infinite step so; all such series have one length.
NamedSeries infinite_coordinates(const PathKlSum::Infinite& step) {
  NamedSeries series{"infinite_coordinates", std::vector<float>(StepKl::kNamedCoordinates, -1.0F)};
  std::copy_n(step.first_coordinates.begin(),
              std::min(step.first_coordinates.size(), series.values.size()), series.values.begin());
  return series;
}

/// The losses that were logged while the model was trained.
NamedSeries batch_losses(const ModelRecord& record) {
  NamedSeries series{"batch_losses", {}};
  for (const LoggedLoss& logged : record.losses) {
    series.values.push_back(static_cast<float>(logged.loss));
  }
  return series;
}

}  // namespace

NetworkTrials::NetworkTrials(const Study& study, const DataPlaces& places)
    : study_(study),
      sets_(load_sets(study_, places)),
      network_(network_of(study_.model, sets_.train)),
      policies_(policies_of(study_, network_)) {
  if (sets_.test) test_.emplace(*sets_.test, all_records(*sets_.test, study_.data.test_records));
  if (study_.audit.worlds() == 1) {
    coins_ = coin_slots(study_, sets_.train);
  } else {
    (void)pair(0);  // refuses an adjacency that cannot be, before anything is trained
  }
  require_training();
}

/// Refuses what every trial would fail with, before the first.
void NetworkTrials::require_training() const {
  const Where where = study_.noise.empty() ? Where::in("train") : study_.noise.front().where;
  if (study_.audit.worlds() == 1) {
    const TrainingData data(sets_.train, coins_.slots, {World{}});
    return require_trainable(network_, data, policies_, training_with(coins_.other), where);
  }
  const auto of = pair(0);
  const TrainingData& data = of->both ? *of->both : *of->each.front();
  require_trainable(network_, data, policies_, training_with(of->slots.other), where);
}

Training NetworkTrials::training_with(const World& other) const {
  Training training = study_.train;
  if (!training.gradient_canary) return training;
  for (const SlotChange& change : other.changes) training.canary_slots.push_back(change.slot);
  return training;
}

std::map<std::string, std::string> NetworkTrials::checksums() const {
  std::map<std::string, std::string> checksums = {{sets_.train.name, sets_.train.checksum}};
  if (sets_.test) checksums[sets_.test->name + " (test)"] = sets_.test->checksum;
  return checksums;
}

std::shared_ptr<const NetworkTrials::Pair> NetworkTrials::pair(std::uint64_t draw) const {
  return pairs_.get(draw, [&] {
    Pair made;
    made.slots = adjacent_pair(study_, sets_.train, draw);
    if (study_.audit.together()) {
      made.both = training_data(sets_.train, made.slots);
    } else {
      const SlotPair other = study_.audit.share.batches
                                 ? made.slots
                                 : SlotPair{own_slots(made.slots.slots, made.slots.other), World{}};
      for (const auto& [slots, world] : {SlotPair{made.slots.slots, World{}}, other}) {
        made.each.push_back(std::make_shared<TrainingData>(sets_.train, slots, std::vector{world}));
        made.each_slots.push_back(slots);
      }
    }
    const std::uint32_t slot = made.slots.other.changes.front().slot;
    made.differing.emplace(sets_.train, std::vector{made.slots.slots.records[slot]});
    made.label = made.slots.slots.labels[slot];
    return made;
  });
}

TrialGroup NetworkTrials::make_group(std::uint64_t seed) const {
  const auto of = pair(0);
  Training training = study_.train;
  training.seed = seed;
  return TrialGroup(network_, of->both ? of->both : of->each.front(), policies_, training);
}

std::vector<WorldResult> NetworkTrials::summaries(TrialGroup& group,
                                                  const std::shared_ptr<const TrainingData>& data,
                                                  const Slots& slots, const Training& training,
                                                  Observer& observer) const {
  const GroupProblem problem{
      network_, sets_.train, slots, data, policies_, training, relation_of(study_.adjacency.kind)};
  if (!train_to_end(group, problem, observer)) return {};
  const auto own = summarise_training(group, *data);
  std::vector<std::optional<ModelSummary>> test(group.models().size());
  if (test_) test = summarise(group, *test_, first_labels(*sets_.test, test_->count()));
  std::vector<WorldResult> results;
  for (std::size_t m = 0; m < group.models().size(); ++m) {
    const ModelRecord& record = group.models()[m];
    WorldResult result;
    result.diverged_at = record.diverged_at;
    if (!own[m] && !result.diverged_at) result.diverged_at = study_.train.iterations;
    result.training_loss = own[m] ? own[m]->mean_loss : kNaN;
    result.largest_loss = own[m] ? own[m]->largest_loss : kNaN;
    result.training_accuracy = own[m] ? own[m]->accuracy : kNaN;
    result.test_accuracy = test[m] ? test[m]->accuracy : kNaN;
    result.path_kl = study_.train.path_kl ? record.path_kl.nats : kNaN;
    result.infinite_steps = record.path_kl.infinite_steps;
    results.push_back(std::move(result));
  }
  return results;
}

void NetworkTrials::train(std::uint64_t draw, const TrialSeeds& seeds,
                          const std::vector<std::size_t>& worlds, std::vector<TrialResult>& results,
                          Observer& observer) const {
  const auto of = pair(draw);
  Training training = training_with(of->slots.other);
  training.seed = seeds.batches;
  training.init_seed = seeds.init;
  training.noise_seed = seeds.noise;
  const std::shared_ptr<const TrainingData>& data =
      worlds.size() == 2 ? of->both : of->each[worlds.front()];
  TrialGroup group(network_, data, policies_, training);
  std::vector<WorldResult> models =
      summaries(group, data, worlds.size() == 2 ? of->slots.slots : of->each_slots[worlds.front()],
                training, observer);
  if (models.empty()) return;

  // D' may lack the differing record altogether: D has all.
  const TrainingData& d = of->both ? *of->both : *of->each.front();
  const auto on_records = group.evaluate(d.store, d.labels);
  const auto on_differing = group.evaluate(*of->differing, {&of->label, 1});
  const std::vector<float> start = initial_parameters(network_, seeds.init);
  std::vector<float> room(network_.input().size() + 16);
  const float* inputs = of->differing->inputs(0, room.data());
  std::vector<WorldRecords> records;  // D, D'
  if (study_.audit.flatness && of->both) {
    for (const std::size_t world : {0U, 1U}) records.emplace_back(*of->both, world);
  }

  for (std::size_t m = 0; m < group.models().size(); ++m) {
    const ModelRecord& record = group.models()[m];
    TrialResult& trial = results[record.policy];
    WorldResult& result = models[m];
    if (record.path_kl.first_infinite) {
      result.series.push_back(infinite_coordinates(*record.path_kl.first_infinite));
    }
    if (result.diverged_at) {
      trial.status = TrialStatus::diverged;
    } else {
      if (!record.losses.empty()) result.series.push_back(batch_losses(record));
      const auto loss = static_cast<double>(on_differing.losses[m].front());
      result.scores = {{"loss", -loss}, {"confidence", std::exp(-loss)}, {"margin", margin(loss)}};
      score_weights(network_, group.parameters(m), start, {inputs, network_.input().size()},
                    of->label, result.scores);
      if (training.gradient_canary) {
        for (NamedScore& score : result.scores) {  // in place of that on the record's own gradient
          if (score.name == "projection") score.value = record.canary_scores.front();
        }
      }
      if (!records.empty()) {
        score_flatness(network_, group.parameters(m), records[record.world], records[0], records[1],
                       training, result.scores);
      }
      if (study_.audit.record_losses) {
        std::vector<float> losses = on_records.losses[m];
        losses.resize(d.slots);  // without the records that a world puts in their place
        result.series.push_back({"record_losses", std::move(losses)});
      }
    }
    trial.worlds[worlds[record.world]] = std::move(result);
  }
}

void NetworkTrials::train_by_coins(std::uint64_t seed, std::vector<TrialResult>& results,
                                   Observer& observer) const {
  const World world = random_half(coins_.other, seed, 0);
  const auto data =
      std::make_shared<const TrainingData>(sets_.train, coins_.slots, std::vector{world});
  Training training = training_with(coins_.other);
  training.seed = seed;
  TrialGroup group(network_, data, policies_, training);
  std::vector<WorldResult> models = summaries(group, data, coins_.slots, training, observer);
  if (models.empty()) return;

  std::vector<bool> out(data->slots, false);
  for (const SlotChange& change : world.changes) out[change.slot] = true;
  const auto on_records = group.evaluate(data->store, data->labels);
  for (std::size_t m = 0; m < group.models().size(); ++m) {
    TrialResult& trial = results[group.models()[m].policy];
    WorldResult& result = models[m];
    if (result.diverged_at) {
      trial.status = TrialStatus::diverged;
    } else {
      std::vector<float> losses, included;
      for (const SlotChange& change : coins_.other.changes) {
        losses.push_back(on_records.losses[m][change.slot]);
        included.push_back(out[change.slot] ? 0.0F : 1.0F);
      }
      result.series = {{"coin_losses", std::move(losses)}, {"included", std::move(included)}};
      const std::vector<double>& scores = group.models()[m].canary_scores;
      if (!scores.empty()) {
        result.series.push_back({"coin_scores", std::vector<float>(scores.begin(), scores.end())});
      }
    }
    trial.worlds.front() = std::move(result);
  }
}

}  // namespace sfumato::lab
