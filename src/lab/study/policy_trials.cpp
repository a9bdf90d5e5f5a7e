#include "lab/study/policy_trials.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

namespace sfumato::lab {
namespace {

constexpr std::size_t kNamedCoordinates = 8;

std::optional<double> score_of(const WorldResult& world, const std::string& name) {
  for (const NamedScore& score : world.scores) {
    if (score.name == name) return score.value;
  }
  return std::nullopt;
}

/// Trials of one policy while they are being read, by pair.
struct Gathered {
  PolicyTrials trials;
  std::map<std::uint32_t, ScoreSample> scores;
  std::map<std::uint32_t, PathKlRuns> path_kls;
  std::set<std::size_t> infinite_coordinates;
};

/// `audited`: the pair as audits count it.
void gather_world(Gathered& of, std::uint32_t audited, std::size_t w, const WorldResult& world) {
  PolicyTrials& trials = of.trials;
  if (const auto loss = score_of(world, "loss")) trials.differing_losses[w].push_back(-*loss);
  trials.training_losses[w].push_back(world.training_loss);
  if (!std::isnan(world.test_accuracy)) trials.test_accuracies[w].push_back(world.test_accuracy);
  trials.worst_loss = std::max(trials.worst_loss, world.training_loss);
  trials.largest_loss = std::fmax(trials.largest_loss, world.largest_loss);
  if (!std::isnan(world.path_kl)) {
    of.path_kls[audited][w].push_back(world.path_kl);
  }
  for (const NamedSeries& series : world.series) {
    if (series.name != "infinite_coordinates") continue;
    for (const float coordinate : series.values) {
      if (of.infinite_coordinates.size() == kNamedCoordinates) break;
      if (coordinate >= 0.0F) of.infinite_coordinates.insert(static_cast<std::size_t>(coordinate));
    }
  }
}

PolicyTrials finished(Gathered&& of) {
  PolicyTrials trials = std::move(of.trials);
  for (auto& [pair, sample] : of.scores) trials.scores.push_back(std::move(sample));
  for (auto& [pair, runs] : of.path_kls) trials.path_kls.push_back(std::move(runs));
  trials.infinite_coordinates.assign(of.infinite_coordinates.begin(),
                                     of.infinite_coordinates.end());
  return trials;
}

}  // namespace

std::vector<PolicyTrials> trials_by_policy(const Ledger& ledger, const Study& study,
                                           const std::string& score) {
  std::vector<Gathered> policies(study.noise.size());
  ledger.for_each([&](const TrialResult& trial) {
    Gathered& of = policies.at(trial.key.policy);
    ++of.trials.trials;
    if (trial.status == TrialStatus::failed || trial.worlds.size() != 2) {
      ++of.trials.failed;
      return;
    }
    of.trials.diverged += trial.status == TrialStatus::diverged ? 1 : 0;
    const std::uint32_t audited = study.audit.random_pairs ? 0 : trial.key.pair;
    ScoreSample& sample = of.scores[audited];
    for (std::size_t w = 0; w < 2; ++w) {
      const std::optional<double> found = score_of(trial.worlds[w], score);
      if (!found && !trial.worlds[w].diverged_at) ++of.trials.without_score;
      (w == 0 ? sample.with : sample.without)
          .push_back(found.value_or(-std::numeric_limits<double>::infinity()));
    }
    if (trial.status != TrialStatus::ok) return;
    for (std::size_t w = 0; w < 2; ++w) gather_world(of, audited, w, trial.worlds[w]);
  });
  std::vector<PolicyTrials> result;
  result.reserve(policies.size());
  for (Gathered& of : policies) result.push_back(finished(std::move(of)));
  return result;
}

}  // namespace sfumato::lab
