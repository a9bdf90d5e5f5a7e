#include "sfumato/study/trial_runner.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <exception>
#include <limits>

#include "sfumato/nn/exact_gradient.hpp"
#include "sfumato/nn/initialise.hpp"
#include "sfumato/nn/kernel/matrix.hpp"
#include "sfumato/random/stream.hpp"
#include "sfumato/study/measures.hpp"
#include "sfumato/study/model_summary.hpp"

namespace sfumato {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// The seed of a trial's models: of both worlds, or of one that has its own.
std::uint64_t trial_seed(std::uint64_t seed, std::uint64_t pair, std::uint64_t replica,
                         std::uint64_t world) {
  const PhiloxKey words = StreamKey(seed, Purpose::trial, {pair, replica, world}).words();
  return std::uint64_t{words[1]} << 32 | words[0];
}

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

}  // namespace

TrialRunner::TrialRunner(Study study, const DataPlaces& places)
    : study_(std::move(study)),
      sets_(load_sets(study_, places)),
      network_(network_of(study_.model, sets_.train)),
      policies_(policies_of(study_, network_)) {
  if (sets_.test) test_.emplace(*sets_.test, all_records(*sets_.test, study_.data.test_records));
  (void)pair(0);  // refuses an adjacency that cannot be, before anything is trained
}

LedgerIdentity TrialRunner::identity(const std::string& version) const {
  LedgerIdentity identity{canonical_text(study_), version, kernel::instruction_set(), {}};
  identity.checksums[sets_.train.name] = sets_.train.checksum;
  if (sets_.test) identity.checksums[sets_.test->name + " (test)"] = sets_.test->checksum;
  return identity;
}

std::size_t TrialRunner::groups() const { return study_.audit.pairs * study_.audit.replicas; }

std::vector<TrialKey> TrialRunner::keys(std::size_t group) const {
  std::vector<TrialKey> keys;
  for (std::size_t p = 0; p < policies_.size(); ++p) {
    keys.push_back({static_cast<std::uint32_t>(p),
                    static_cast<std::uint32_t>(group / study_.audit.replicas),
                    static_cast<std::uint32_t>(group % study_.audit.replicas)});
  }
  return keys;
}

std::shared_ptr<const TrialRunner::Pair> TrialRunner::pair(std::uint64_t draw) const {
  const std::lock_guard lock(mutex_);
  if (auto known = pairs_[draw].lock()) return known;
  auto made = std::make_shared<Pair>();
  made->slots = adjacent_pair(study_, sets_.train, draw);
  if (study_.audit.coupled) {
    made->both = training_data(sets_.train, made->slots);
  } else {
    for (const World& world : {World{}, made->slots.other}) {
      made->each.push_back(
          std::make_shared<TrainingData>(sets_.train, made->slots.slots, std::vector{world}));
    }
  }
  const std::uint32_t slot = made->slots.other.changes.front().slot;
  made->differing.emplace(sets_.train, std::vector{made->slots.slots.records[slot]});
  made->label = made->slots.slots.labels[slot];
  pairs_[draw] = made;
  return made;
}

TrialGroup TrialRunner::make_group(std::uint64_t seed) const {
  const auto of = pair(0);
  Training training = study_.train;
  training.seed = seed;
  return TrialGroup(network_, study_.audit.coupled ? of->both : of->each.front(), policies_,
                    training);
}

void TrialRunner::train(const Pair& of, std::uint64_t seed, std::vector<std::size_t> worlds,
                        std::vector<TrialResult>& results, Observer& observer) const {
  Training training = study_.train;
  training.seed = seed;
  const std::shared_ptr<const TrainingData>& data =
      worlds.size() == 2 ? of.both : of.each[worlds.front()];
  TrialGroup group(network_, data, policies_, training);
  group.train_until(training.iterations, observer);
  if (group.step() < training.iterations) return;

  const auto own = summarise_training(group, *data);
  std::vector<std::optional<ModelSummary>> test(group.models());
  if (test_) test = summarise(group, *test_, first_labels(*sets_.test, test_->count()));
  const auto on_records = group.evaluate(data->store, data->labels);
  const auto on_differing = group.evaluate(*of.differing, {&of.label, 1});
  const std::vector<float> start = initial_parameters(network_, seed);
  std::vector<float> room(network_.input().size() + 16);
  const float* inputs = of.differing->inputs(0, room.data());
  std::vector<WorldRecords> records;  // D, D'
  if (study_.audit.flatness && of.both) {
    for (const std::size_t world : {0U, 1U}) records.emplace_back(*of.both, world);
  }

  for (std::size_t m = 0; m < group.models(); ++m) {
    const ModelRecord& record = group.records()[m];
    TrialResult& trial = results[record.policy];
    WorldResult result;
    result.diverged_at = record.diverged_at;
    result.training_loss = own[m] ? own[m]->mean_loss : kNaN;
    result.largest_loss = own[m] ? own[m]->largest_loss : kNaN;
    result.training_accuracy = own[m] ? own[m]->accuracy : kNaN;
    result.test_accuracy = test[m] ? test[m]->accuracy : kNaN;
    result.odometer = training.odometer ? record.odometer.nats : kNaN;
    result.infinite_steps = record.odometer.infinite_steps;
    if (const auto& first = record.odometer.first_infinite) {
      NamedSeries series{"first_infinite",
                         {static_cast<float>(first->step), static_cast<float>(first->count)}};
      for (const std::size_t coordinate : first->first_coordinates) {
        series.values.push_back(static_cast<float>(coordinate));
      }
      result.series.push_back(std::move(series));
    }
    if (!record.losses.empty()) {
      NamedSeries series{"batch_losses", {}};
      for (const LoggedLoss& logged : record.losses) {
        series.values.push_back(static_cast<float>(logged.loss));
      }
      result.series.push_back(std::move(series));
    }
    if (record.diverged_at || !own[m]) {
      trial.status = TrialStatus::diverged;
    } else {
      const auto loss = static_cast<double>(on_differing.losses[m].front());
      result.scores = {{"loss", -loss}, {"margin", margin(loss)}};
      score_weights(network_, group.parameters(m), start, {inputs, network_.input().size()},
                    of.label, result.scores);
      if (!records.empty()) {
        score_flatness(network_, group.parameters(m), records[record.world], records[0], records[1],
                       training, result.scores);
      }
      if (study_.audit.record_losses) {
        std::vector<float> losses = on_records.losses[m];
        losses.resize(data->slots);  // without the records that a world puts in their place
        result.series.push_back({"record_losses", std::move(losses)});
      }
    }
    trial.worlds[worlds[record.world]] = std::move(result);
  }
}

std::vector<TrialResult> TrialRunner::run(std::size_t group, Observer& observer) const {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<TrialResult> results;
  for (const TrialKey& key : keys(group)) {
    TrialResult result;
    result.key = key;
    result.seed = trial_seed(study_.train.seed, key.pair, key.replica, 0);
    result.worlds.resize(2);
    results.push_back(std::move(result));
  }
  const TrialKey first = results.front().key;
  try {
    const auto of = pair(study_.audit.random_pairs ? group : first.pair);
    if (study_.audit.coupled) {
      train(*of, results.front().seed, {0, 1}, results, observer);
    } else {
      for (std::size_t world = 0; world < 2; ++world) {
        train(*of, trial_seed(study_.train.seed, first.pair, first.replica, world), {world},
              results, observer);
      }
    }
  } catch (const std::exception& error) {
    for (TrialResult& result : results) {
      result.status = TrialStatus::failed;
      result.message = error.what();
      result.worlds.clear();
    }
  }
  if (observer.stop_requested()) return {};
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  for (TrialResult& result : results) {
    result.seconds = seconds / static_cast<double>(results.size());
  }
  return results;
}

}  // namespace sfumato
