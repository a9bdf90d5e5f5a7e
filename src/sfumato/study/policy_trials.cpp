#include "sfumato/study/policy_trials.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

constexpr std::size_t kNamedCoordinates = 8;

/// The record losses of one pair, a row per model.
using LossRows = std::vector<std::vector<float>>;

std::optional<double> score_of(const WorldResult& world, const std::string& name) {
  for (const NamedScore& score : world.scores) {
    if (score.name == name) return score.value;
  }
  return std::nullopt;
}

/// exp(-loss): the confidence in the true class.
Eigen::MatrixXd confidences(const LossRows& losses) {
  Eigen::MatrixXd matrix(static_cast<Eigen::Index>(losses.size()),
                         static_cast<Eigen::Index>(losses.front().size()));
  for (Eigen::Index r = 0; r < matrix.rows(); ++r) {
    for (Eigen::Index c = 0; c < matrix.cols(); ++c) {
      const auto loss =
          static_cast<double>(losses[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)]);
      matrix(r, c) = std::exp(-std::max(0.0, loss));
    }
  }
  return matrix;
}

/// Trials of one policy while they are being read, by pair.
struct Gathered {
  PolicyTrials trials;
  std::map<std::uint32_t, ScoreSample> scores;
  std::map<std::uint32_t, PathKlRuns> odometers;
  std::map<std::uint32_t, std::array<LossRows, 2>> losses;
  std::set<std::size_t> infinite_coordinates;
};

/// Throws   InvalidArgument if the pair has losses of another number of records.
void add_losses(Gathered& of, std::uint32_t pair, std::size_t w, const std::vector<float>& losses,
                const std::string& path) {
  for (const LossRows& rows : of.losses[pair]) {
    if (!rows.empty() && rows.front().size() != losses.size()) {
      throw InvalidArgument("holds models whose losses are of different numbers of records",
                            "It was changed by other means: restore it from a copy",
                            Where::in(path));
    }
  }
  of.losses[pair][w].push_back(losses);
}

/// `audited`: the pair as audits count it.
void gather_world(Gathered& of, std::uint32_t pair, std::uint32_t audited, std::size_t w,
                  const WorldResult& world, const std::string& path) {
  PolicyTrials& trials = of.trials;
  if (const auto loss = score_of(world, "loss")) trials.differing_losses[w].push_back(-*loss);
  trials.training_losses[w].push_back(world.training_loss);
  if (!std::isnan(world.test_accuracy)) trials.test_accuracies[w].push_back(world.test_accuracy);
  trials.worst_loss = std::max(trials.worst_loss, world.training_loss);
  trials.largest_loss = std::fmax(trials.largest_loss, world.largest_loss);
  if (!std::isnan(world.odometer)) {
    of.odometers[audited][w].push_back(world.odometer);
  }
  for (const NamedSeries& series : world.series) {
    if (series.name == "record_losses") add_losses(of, pair, w, series.values, path);
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
  for (auto& [pair, runs] : of.odometers) trials.odometers.push_back(std::move(runs));
  for (const auto& [pair, rows] : of.losses) {
    if (rows[0].empty() || rows[0].size() != rows[1].size()) continue;
    trials.confidences.push_back({confidences(rows[0]), confidences(rows[1])});
  }
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
    for (std::size_t w = 0; w < 2; ++w) {
      gather_world(of, trial.key.pair, audited, w, trial.worlds[w], ledger.path());
    }
  });
  std::vector<PolicyTrials> result;
  result.reserve(policies.size());
  for (Gathered& of : policies) result.push_back(finished(std::move(of)));
  return result;
}

}  // namespace sfumato
