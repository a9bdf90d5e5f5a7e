#include "sfumato/answers/audit/ledger_pairs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sfumato/answers/audit/document.hpp"
#include "sfumato/answers/audit/histograms.hpp"
#include "sfumato/answers/audit/sandwich.hpp"
#include "sfumato/answers/audit/sandwich_figures.hpp"
#include "sfumato/answers/audit/score_smells.hpp"
#include "sfumato/study/material.hpp"
#include "sfumato/study/policy_trials.hpp"
#include "sfumato/study/scores.hpp"

namespace sfumato {
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
  if (study.audit.coupled && !table.rows().empty()) document.add(std::move(table));
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
    table.add_row(
        {study.noise[p].name,
         estimate(policies[p].worst_loss, "largest over models of the mean loss on D"),
         std::isnan(policies[p].largest_loss)
             ? Cell(Empty{"a quadratic loss has no records"})
             : Cell(estimate(policies[p].largest_loss, "largest over models and records")),
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

/// The trials by `score`. Where none was asked for, `score` becomes the default or, if models of a
/// chosen policy do not have it, the loss, which all have.
std::vector<PolicyTrials> trials_with_score(Document& document, const Ledger& ledger,
                                            const Study& study,
                                            const std::vector<std::size_t>& chosen,
                                            std::string& score) {
  const bool asked = !score.empty();
  if (!asked) score = default_score(study.model.kind);
  (void)score_called(score, study.model.kind, Where::key("score"));  // refuses unknown ones
  std::vector<PolicyTrials> policies = trials_by_policy(ledger, study, score);
  const auto lacking = std::find_if(chosen.begin(), chosen.end(),
                                    [&](std::size_t p) { return policies[p].without_score != 0; });
  if (lacking == chosen.end()) return policies;
  const std::string problem = fmt::format("the models of the policy `{}` have no score `{}`",
                                          study.noise[*lacking].name, score);
  if (asked) {
    throw InvalidArgument(problem,
                          "Take another, such as --score loss, or other policies with --policy",
                          Where::key("score"));
  }
  document.state(StatementKind::info, fmt::format("The score is loss: {}.", problem));
  score = "loss";
  return trials_by_policy(ledger, study, score);
}

/// The names of parameters of the study's network; their numbers if its data are not there.
std::vector<std::string> names_of(const Study& study, const std::vector<std::size_t>& parameters) {
  std::vector<std::string> names;
  try {
    const Network network = network_of(study.model, load_sets(study).train);
    for (const std::size_t i : parameters) names.push_back(network.parameter_name(i));
  } catch (const InvalidArgument&) {
    names.clear();
    for (const std::size_t i : parameters) names.push_back(fmt::format("number {}", i));
  }
  return names;
}

void state_infinite(Document& document, const Study& study, const std::string& policy,
                    const PolicyTrials& trials) {
  std::array<std::uint64_t, 2> runs = {0, 0}, infinite = {0, 0};
  for (const OdometerRuns& pair : trials.odometers) {
    for (std::size_t w = 0; w < 2; ++w) {
      runs[w] += pair[w].size();
      infinite[w] += static_cast<std::uint64_t>(std::count_if(
          pair[w].begin(), pair[w].end(), [](double nats) { return std::isinf(nats); }));
    }
  }
  if (infinite[0] == 0 && infinite[1] == 0) return;
  std::string text = fmt::format(
      "{}: the odometer is infinite in {} of {} runs along D and {} of {} along D': in some step a "
      "parameter had noise in one world only, or moved without any",
      policy, infinite[0], runs[0], infinite[1], runs[1]);
  if (!trials.infinite_coordinates.empty()) {
    text +=
        fmt::format(" ({}, ...)", fmt::join(names_of(study, trials.infinite_coordinates), ", "));
  }
  document.state(StatementKind::warning, text + ".");
}

/// The odometers as a risk, or why there is none.
void measure_odometer(Document& document, const Study& study, const PolicyTrials& trials,
                      Sandwich& sandwich) {
  if (!study.train.odometer) {
    sandwich.no_odometer = "the study kept no odometer (train.path_kl = true does)";
  } else if (trials.odometers.empty()) {
    sandwich.no_odometer = "every model diverged";
  } else {
    sandwich.odometer.emplace(trials.odometers);
    if (trials.diverged != 0) {
      document.state(StatementKind::warning,
                     fmt::format("{}: the odometer leaves out {} trials that diverged.",
                                 sandwich.policy, trials.diverged));
    }
  }
}

void add_histogram(Document& document, const std::string& policy, const PolicyTrials& trials) {
  std::array<std::vector<double>, 2> finite;
  for (std::size_t w = 0; w < 2; ++w) {
    std::copy_if(trials.differing_losses[w].begin(), trials.differing_losses[w].end(),
                 std::back_inserter(finite[w]), [](double loss) { return std::isfinite(loss); });
  }
  if (!finite[0].empty() && !finite[1].empty()) document.add(loss_histogram(policy, finite));
}

std::string sampling_text(const Study& study) {
  if (study.model.kind != ModelKind::network) return "every step takes all records";
  const auto size = study.train.batch_size;
  switch (study.train.batches) {
    case BatchScheme::shuffled:
      return fmt::format("batches of {}, shuffled in every epoch, not released", size);
    case BatchScheme::with_replacement:
      return fmt::format("batches of {} drawn with replacement, not released", size);
    case BatchScheme::poisson:
      return fmt::format("Poisson batches of {} on average, not released", size);
  }
  throw InternalError("an unknown way to draw batches");
}

std::string runs_text(const Study& study, const AuditOptions& options, const std::string& score) {
  const AuditSpec& audit = study.audit;
  const std::string pairs =
      audit.random_pairs
          ? fmt::format("{} replicas, each of a pair drawn at random", audit.pairs * audit.replicas)
          : fmt::format("{} replicas of {} {}", audit.replicas, audit.pairs,
                        audit.pairs == 1 ? "pair" : "pairs");
  return fmt::format(
      "Sampling: {}. Runs: {}; a replica is a model of D and one of D' for each policy, worlds {}. "
      "Score {}, thresholds {}. The numbers speak of what is released once, at the end: not of "
      "checkpoints, logs, or choices made by looking at the data",
      sampling_text(study), pairs, audit.coupled ? "coupled (same seeds)" : "independent", score,
      name(options.strategy));
}

}  // namespace

void audit_pairs(Document& document, const Ledger& ledger, const Study& study,
                 const std::vector<std::size_t>& chosen, AuditCommand command, AuditOptions options,
                 Verdict& verdict) {
  const std::vector<PolicyTrials> policies =
      trials_with_score(document, ledger, study, chosen, command.score);
  const ScoreInfo& score = score_called(command.score, study.model.kind, Where::key("score"));
  command.unit = "models";
  command.larger_means = "member";
  command.adjacency = study.model.kind == ModelKind::quadratic    ? "losses"
                      : study.adjacency.kind == Adjacency::remove ? "remove"
                                                                  : "replace";
  command.access = score.access == ScoreAccess::outputs   ? "black-box"
                   : score.access == ScoreAccess::weights ? "white-box"
                                                          : "law";
  command.independent_worlds = !study.audit.coupled;
  std::vector<ClaimedGuarantee> claims = study.audit.claims;
  if (!command.claim.empty()) claims = {parse_claim(command.claim)};
  if (!claims.empty()) options.delta = claims.front().delta;  // thresholds are chosen for the first

  const std::vector<ProvenBounds> proven = proven_bounds(study, ledger.identity());
  std::vector<Sandwich> sandwiches;
  std::vector<NamedAttack> attacks;
  for (const std::size_t p : chosen) {
    const PolicyTrials& trials = policies[p];
    const std::string& policy = study.noise[p].name;
    if (trials.scores.empty()) {
      throw InvalidArgument(fmt::format("holds no finished trial of the policy `{}`", policy),
                            "Run the study first: sfumato study run", Where::in(command.ledger));
    }
    if (trials.failed != 0) {
      document.state(StatementKind::warning,
                     fmt::format("{}: {} trials failed and are left out. The bounds assume that "
                                 "failing has nothing to do with the world.",
                                 policy, trials.failed));
    }
    sandwiches.push_back({policy, audit_scores(trials.scores, options), proven[p], {}});
    measure_odometer(document, study, trials, sandwiches.back());
    attacks.push_back({policy, pooled(trials.scores)});
  }
  if (add_sandwich(document, sandwiches, command)) verdict = Verdict::violated;
  add_sandwich_figures(document, sandwiches);
  for (const std::size_t p : chosen) {
    state_infinite(document, study, study.noise[p].name, policies[p]);
  }
  if (chosen.size() == 1) add_bounds(document, sandwiches.front().audit, command);
  add_losses(document, study, policies, chosen);
  for (const std::size_t p : chosen) add_histogram(document, study.noise[p].name, policies[p]);
  add_paper(document, study, policies, chosen);
  add_membership(document, attacks, command.confidence);
  for (std::size_t i = 0; i < sandwiches.size(); ++i) {
    const bool reversed = scores_reversed(attacks[i].scores);
    for (const ClaimedGuarantee& claim : claims) {
      document.state(StatementKind::info, fmt::format("Claim against {}:", sandwiches[i].policy));
      add_claim(document, check_claim(sandwiches[i].audit, claim.epsilon, claim.delta), claim,
                {reversed}, verdict);
    }
  }
  state_scope(document, command, runs_text(study, options, command.score));
}

}  // namespace sfumato
