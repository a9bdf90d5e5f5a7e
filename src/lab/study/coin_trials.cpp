#include "lab/study/coin_trials.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sfumato/core/error.hpp"

namespace sfumato::lab {
namespace {

/// log(p / (1 - p)) of p = exp(-loss). Confidences that single precision rounds to 0 or 1 stay finite:
/// attacks fit normal distributions to logits.
double logit(float loss) {
  const double kept = std::clamp(static_cast<double>(loss), 1e-12, 500.0);
  return -kept - std::log(-std::expm1(-kept));
}

CoinRun run_of(const WorldResult& world) {
  CoinRun run;
  std::vector<double> planted;  // of gradient canaries, in place of those of their records' losses
  for (const NamedSeries& series : world.series) {
    if (series.name == "coin_losses") {
      std::transform(series.values.begin(), series.values.end(), std::back_inserter(run.scores),
                     logit);
    }
    if (series.name == "coin_scores") planted.assign(series.values.begin(), series.values.end());
    if (series.name == "included") {
      std::transform(series.values.begin(), series.values.end(), std::back_inserter(run.included),
                     [](float in) { return static_cast<std::uint8_t>(in != 0.0F); });
    }
  }
  if (!planted.empty()) run.scores = std::move(planted);
  return run;
}

}  // namespace

std::vector<CoinTrials> coin_trials(const Ledger& ledger, const Study& study) {
  std::vector<CoinTrials> policies(study.noise.size());
  ledger.for_each([&](const TrialResult& trial) {
    CoinTrials& of = policies.at(trial.key.policy);
    ++of.trials;
    switch (trial.status) {
      case TrialStatus::failed: ++of.failed; return;
      case TrialStatus::diverged: ++of.diverged; return;
      case TrialStatus::ok: break;
    }
    CoinRun run = trial.worlds.size() == 1 ? run_of(trial.worlds.front()) : CoinRun();
    if (run.scores.empty() || run.scores.size() != run.included.size() ||
        (!of.runs.empty() && run.scores.size() != of.runs.front().scores.size())) {
      throw InvalidArgument("holds a model whose coin flips and losses do not fit together",
                            "It was changed by other means: restore it from a copy",
                            Where::in(ledger.path()));
    }
    of.runs.push_back(std::move(run));
  });
  return policies;
}

ShadowScores shadow_scores(const CoinTrials& trials) {
  if (trials.runs.size() < 2) {
    throw InvalidArgument("there are fewer than two shadow models", "Train more");
  }
  const auto models = static_cast<Eigen::Index>(trials.runs.size());
  const auto records = static_cast<Eigen::Index>(trials.runs.front().scores.size());
  ShadowScores shadows{Eigen::MatrixXd(models, records), MembershipMask(models, records)};
  for (Eigen::Index m = 0; m < models; ++m) {
    const CoinRun& run = trials.runs[static_cast<std::size_t>(m)];
    for (Eigen::Index r = 0; r < records; ++r) {
      shadows.logits(m, r) = run.scores[static_cast<std::size_t>(r)];
      shadows.member(m, r) = run.included[static_cast<std::size_t>(r)];
    }
  }
  return shadows;
}

}  // namespace sfumato::lab
