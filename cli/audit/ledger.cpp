#include "audit/ledger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "audit/document.hpp"
#include "command.hpp"
#include "sfumato/audit/paper_statistic.hpp"
#include "sfumato/core/suggest.hpp"
#include "sfumato/study/ledger/ledger.hpp"
#include "sfumato/study/spec/study.hpp"

namespace sfumato::cli {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const std::vector<std::string> kScores = {"loss", "margin", "gradient_norm", "projection"};

/// What a ledger holds of one noise policy.
struct PolicyTrials {
  std::map<std::uint32_t, ScoreSample> scores;  ///< by pair
  std::map<std::uint32_t, std::vector<std::vector<float>>> with,
      without;                                             ///< record losses, by pair
  std::map<std::uint32_t, std::vector<double>> losses[2];  ///< of the differing record, by world
  double worst_loss = 0.0, largest_loss = 0.0;
  std::uint64_t trials = 0, diverged = 0, failed = 0;
};

double score_of(const WorldResult& world, const std::string& name) {
  for (const NamedScore& score : world.scores) {
    if (score.name == name) return score.value;
  }
  // A model that diverged has no scores. The rule that it ranks lowest was fixed before training, so
  // that tests on scores stay valid.
  return -kInf;
}

std::vector<PolicyTrials> collect(const Ledger& ledger, const Study& study,
                                  const std::string& score) {
  std::vector<PolicyTrials> policies(study.noise.size());
  ledger.for_each([&](const TrialResult& trial) {
    PolicyTrials& of = policies.at(trial.key.policy);
    ++of.trials;
    if (trial.status == TrialStatus::failed || trial.worlds.size() != 2) {
      ++of.failed;
      return;
    }
    of.diverged += trial.status == TrialStatus::diverged ? 1 : 0;
    // Replicas that drew their pair at random are one sample.
    const std::uint32_t pair = study.audit.random_pairs ? 0 : trial.key.pair;
    ScoreSample& sample = of.scores[pair];
    sample.with.push_back(score_of(trial.worlds[0], score));
    sample.without.push_back(score_of(trial.worlds[1], score));
    if (trial.status != TrialStatus::ok) return;
    for (std::size_t w = 0; w < 2; ++w) {
      of.losses[w][pair].push_back(-score_of(trial.worlds[w], "loss"));
      of.worst_loss = std::max(of.worst_loss, trial.worlds[w].training_loss);
      of.largest_loss = std::max(of.largest_loss, trial.worlds[w].largest_loss);
      for (const NamedSeries& series : trial.worlds[w].series) {
        if (series.name != "record_losses") continue;
        (w == 0 ? of.with : of.without)[trial.key.pair].push_back(series.values);
      }
    }
  });
  return policies;
}

/// exp(-loss): the confidence in the true class.
Eigen::MatrixXd confidences(const std::vector<std::vector<float>>& losses) {
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

void add_paper(Document& document, const Study& study, const std::vector<PolicyTrials>& policies,
               const std::vector<std::size_t>& chosen) {
  Table table("paper_statistic", "The paper's Algorithm 1 (neither bound nor estimate of delta)",
              {{"policy", "policy"},
               {"epsilon", "eps"},
               {"maximum", "largest pair"},
               {"mean", "mean of pairs"},
               {"pairs", "pairs"}},
              2);
  for (const std::size_t p : chosen) {
    std::vector<ConfidencePair> pairs;
    for (const auto& [pair, losses] : policies[p].with) {
      const auto other = policies[p].without.find(pair);
      if (other == policies[p].without.end() || other->second.size() != losses.size()) continue;
      pairs.push_back({confidences(losses), confidences(other->second)});
    }
    if (pairs.empty()) continue;
    for (const double epsilon : study.audit.epsilons) {
      const PaperStatistic statistic = paper_statistic(pairs, Epsilon(epsilon));
      table.add_row({study.noise[p].name, epsilon, statistic.maximum, statistic.mean,
                     statistic.pairs.size()});
    }
  }
  if (study.audit.coupled) document.add(std::move(table));
}

void add_losses(Document& document, const Study& study, const std::vector<PolicyTrials>& policies,
                const std::vector<std::size_t>& chosen) {
  Table table("losses", "Losses at the end of training",
              {{"policy", "policy"},
               {"worst", "worst mean loss"},
               {"largest", "largest of a record"},
               {"with", "differing record, D"},
               {"without", "D'"},
               {"distance", "distance"},
               {"diverged", "diverged"}});
  const auto estimate = [](double value, const char* method) {
    return Claimed<double>{value, Claim::estimate, method};
  };
  for (const std::size_t p : chosen) {
    double mean[2] = {0.0, 0.0};
    std::size_t count[2] = {0, 0};
    for (std::size_t w = 0; w < 2; ++w) {
      for (const auto& [pair, losses] : policies[p].losses[w]) {
        for (const double loss : losses) mean[w] += loss;
        count[w] += losses.size();
      }
      if (count[w] != 0) mean[w] /= static_cast<double>(count[w]);
    }
    if (count[0] == 0 || count[1] == 0) {
      table.add_row({study.noise[p].name, Empty{"every model diverged"}, Empty{}, Empty{}, Empty{},
                     Empty{}, policies[p].diverged});
      continue;
    }
    table.add_row({study.noise[p].name,
                   estimate(policies[p].worst_loss, "largest over models of the mean loss on D"),
                   estimate(policies[p].largest_loss, "largest over models and records"),
                   estimate(mean[0], "mean over models"), estimate(mean[1], "mean over models"),
                   estimate(std::fabs(mean[0] - mean[1]), "distance of the means"),
                   policies[p].diverged});
  }
  document.add(std::move(table));
}

std::vector<std::size_t> chosen_policies(const Study& study, const std::string& name) {
  std::vector<std::size_t> chosen;
  std::vector<std::string> names;
  for (std::size_t p = 0; p < study.noise.size(); ++p) {
    names.push_back(study.noise[p].name);
    if (name.empty() || name == names.back()) chosen.push_back(p);
  }
  if (chosen.empty()) {
    throw InvalidArgument(fmt::format("the study has no noise policy `{}`", name),
                          suggestion(name, names, "policies"), Where::in("--policy"));
  }
  return chosen;
}

}  // namespace

void audit_ledger(Document& document, AuditCommand command, int& exit_code) {
  if (std::find(kScores.begin(), kScores.end(), command.score) == kScores.end()) {
    throw InvalidArgument(fmt::format("no score is called `{}`", command.score),
                          suggestion(command.score, kScores, "scores"), Where::in("--score"));
  }
  const Ledger ledger = Ledger::read(command.ledger);
  const Study study = parse_study(ledger.identity().study, command.ledger);
  const std::vector<std::size_t> chosen = chosen_policies(study, command.policy);
  const std::vector<PolicyTrials> policies = collect(ledger, study, command.score);
  const std::uint64_t planned = std::uint64_t{study.audit.pairs} * study.audit.replicas;

  command.unit = "models";
  command.larger_means = "member";
  command.adjacency = study.adjacency.kind == Adjacency::remove ? "remove" : "replace";
  const bool white_box = command.score == "gradient_norm" || command.score == "projection";
  command.access = white_box ? "white-box" : "black-box";
  command.independent_worlds = !study.audit.coupled;
  std::vector<ClaimedGuarantee> claims = study.audit.claims;
  if (!command.claim.empty()) claims = {parse_claim(command.claim)};
  AuditOptions options = audit_options(command);
  if (!claims.empty()) options.delta = claims.front().delta;  // thresholds are chosen for the first

  Table table("policies", fmt::format("What the models show, by score `{}`", command.score),
              {{"policy", "policy"},
               {"models", "models per world"},
               {"epsilon", fmt::format("eps at delta = {:g}", command.deltas.front())},
               {"cap", "perfect attack"},
               {"delta", fmt::format("delta at eps = {:g}", command.epsilons.front())}});
  struct Check {
    std::string policy;
    ClaimedGuarantee claim;
    ClaimCheck result;
  };
  std::vector<Check> checks;
  std::vector<NamedAttack> attacks;
  for (const std::size_t p : chosen) {
    const PolicyTrials& trials = policies[p];
    const std::string& policy = study.noise[p].name;
    std::vector<ScoreSample> samples;
    std::size_t models = 0;
    for (const auto& [pair, sample] : trials.scores) {
      samples.push_back(sample);
      models += sample.with.size();
    }
    if (samples.empty()) {
      throw InvalidArgument(fmt::format("holds no finished trial of the policy `{}`", policy),
                            "Run the study first: sfumato study run", Where::in(command.ledger));
    }
    if (trials.trials < planned) {
      // Who looks before the end may look again.
      options.more_looks = true;
      document.state(StatementKind::warning,
                     fmt::format("{}: {} of {} trials are finished. This is look {} at a ledger "
                                 "that grows; the level is split over the looks (--look).",
                                 policy, trials.trials, planned, options.look));
    }
    if (trials.failed != 0) {
      document.state(StatementKind::warning,
                     fmt::format("{}: {} trials failed and are left out.", policy, trials.failed));
    }
    const Audit audit = audit_scores(samples, options);
    table.add_row({policy, models, audit.epsilon(Delta(command.deltas.front())),
                   Claimed<double>{audit.epsilon_cap(Delta(command.deltas.front())), Claim::exact,
                                   "what an attack without errors would show with these models"},
                   audit.delta(Epsilon(command.epsilons.front()))});
    attacks.push_back({policy, pooled(samples)});
    for (const ClaimedGuarantee& claim : claims) {
      checks.push_back({policy, claim, check_claim(audit, claim.epsilon, claim.delta)});
    }
    if (chosen.size() == 1) add_bounds(document, audit, command);
  }
  document.add(std::move(table));
  add_losses(document, study, policies, chosen);
  add_paper(document, study, policies, chosen);
  add_membership(document, attacks, command.confidence);
  for (const auto& [policy, claim, check] : checks) {
    document.state(StatementKind::info, fmt::format("Claim against {}:", policy));
    add_claim(document, check, claim);
    if (check.verdict == ClaimVerdict::violation) exit_code = kViolated;
    if (check.verdict == ClaimVerdict::not_enough_runs && exit_code == kFine) {
      exit_code = kUndecided;
    }
  }
  document.add_provenance("instruction set", ledger.identity().instruction_set);
  for (const auto& [name, digest] : ledger.identity().checksums) {
    document.add_provenance("data " + name, digest);
  }
  state_scope(document, command,
              fmt::format("{} pairs, {} replicas each, worlds {}; zero-out adjacency, N = {} is "
                          "public; thresholds: {}",
                          study.audit.pairs, study.audit.replicas,
                          study.audit.coupled ? "coupled (same seeds)" : "independent",
                          study.data.records, name(options.strategy)));
}

}  // namespace sfumato::cli
