#include "audit/ledger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "audit/document.hpp"
#include "command.hpp"
#include "sfumato/core/suggest.hpp"
#include "sfumato/study/policy_trials.hpp"
#include "sfumato/study/scores.hpp"

namespace sfumato::cli {
namespace {

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
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
    const std::vector<ConfidencePair>& pairs = policies[p].confidences;
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
    const auto& [with, without] = policies[p].differing_losses;
    if (with.empty() || without.empty()) {
      table.add_row({study.noise[p].name, Empty{"every model diverged"}, Empty{}, Empty{}, Empty{},
                     Empty{}, policies[p].diverged});
      continue;
    }
    table.add_row({study.noise[p].name,
                   estimate(policies[p].worst_loss, "largest over models of the mean loss on D"),
                   estimate(policies[p].largest_loss, "largest over models and records"),
                   estimate(mean_of(with), "mean over models"),
                   estimate(mean_of(without), "mean over models"),
                   estimate(std::fabs(mean_of(with) - mean_of(without)), "distance of the means"),
                   policies[p].diverged});
  }
  document.add(std::move(table));
}

/// The strongest that needs no more than the model's answers or, where it is known, the law.
std::string default_score(ModelKind kind) {
  switch (kind) {
    case ModelKind::network:
    case ModelKind::logistic: return "margin";
    case ModelKind::quadratic:
    case ModelKind::ridge: return "likelihood_ratio";
  }
  throw InternalError("a kind of model without a score");
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
  const Ledger ledger = Ledger::read(command.ledger);
  const Study study = parse_study(ledger.identity().study, command.ledger);
  if (command.score.empty()) command.score = default_score(study.model.kind);
  const ScoreInfo& score = score_called(command.score, study.model.kind, Where::in("--score"));
  const std::vector<std::size_t> chosen = chosen_policies(study, command.policy);
  const std::vector<PolicyTrials> policies = trials_by_policy(ledger, study, command.score);
  const std::uint64_t planned = std::uint64_t{study.audit.pairs} * study.audit.replicas;

  command.unit = "models";
  command.larger_means = "member";
  command.adjacency = study.adjacency.kind == Adjacency::remove ? "remove" : "replace";
  command.access = score.access == ScoreAccess::outputs ? "black-box" : "white-box";
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
    const std::vector<ScoreSample>& samples = trials.scores;
    std::size_t models = 0;
    for (const ScoreSample& sample : samples) models += sample.with.size();
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
