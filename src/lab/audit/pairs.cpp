#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/audit/parts.hpp"
#include "lab/audit/scores.hpp"
#include "lab/study/policy_trials.hpp"
#include "lab/study/spec/study.hpp"
#include "lab/study/study_data.hpp"
#include "sfumato/audit/score_smells.hpp"

namespace sfumato::lab {
namespace {

/// The strongest that needs no more than the model's answers or, where it is known, the distribution. A canary is a gradient, which answers do not show.
std::string default_score(const Study& study) {
  if (study.train.gradient_canary) return "projection";
  switch (study.model.kind) {
    case ModelKind::network:
    case ModelKind::logistic: return "margin";
    case ModelKind::quadratic:
    case ModelKind::ridge: return "likelihood_ratio";
  }
  throw InternalError("a kind of model without a score");
}

/// The trials by the score that was asked for or the default or, if models of a chosen policy do not have
/// that, the loss, which all have.
std::vector<PolicyTrials> trials_with_score(LedgerAudit& audit, const Ledger& ledger,
                                            const std::vector<std::size_t>& chosen,
                                            const std::string& asked) {
  const Study& study = *audit.study;
  audit.score = asked.empty() ? default_score(study) : asked;
  (void)score_called(audit.score, study.model.kind, Where::key("score"));  // refuses unknown ones
  std::vector<PolicyTrials> policies = trials_by_policy(ledger, study, audit.score);
  const auto lacking = std::find_if(chosen.begin(), chosen.end(),
                                    [&](std::size_t p) { return policies[p].without_score != 0; });
  if (lacking == chosen.end()) return policies;
  const std::string& policy = study.noise[*lacking].name;
  if (!asked.empty()) {
    throw InvalidArgument(
        fmt::format("the models of the policy \"{}\" have no score `{}`", policy, asked),
        "Take another, such as loss, or other policies", Where::key("score"));
  }
  audit.fallback = {policy, audit.score};
  audit.score = "loss";
  return trials_by_policy(ledger, study, audit.score);
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

std::uint64_t infinite_of(const std::vector<double>& runs) {
  return static_cast<std::uint64_t>(
      std::count_if(runs.begin(), runs.end(), [](double nats) { return std::isinf(nats); }));
}

InfinitePaths infinite_paths(const Study& study, const PolicyTrials& trials) {
  InfinitePaths paths;
  for (const auto& [along, back] : trials.path_kls) {
    paths.runs.d += along.size();
    paths.runs.d_prime += back.size();
    paths.infinite.d += infinite_of(along);
    paths.infinite.d_prime += infinite_of(back);
  }
  if (paths.infinite.d + paths.infinite.d_prime != 0 && !trials.infinite_coordinates.empty()) {
    paths.parameters = names_of(study, trials.infinite_coordinates);
  }
  return paths;
}

PathKl path_kl_of(const Study& study, const PolicyTrials& trials) {
  if (!study.train.path_kl) {
    return {{}, "the study kept no path KL (train.path_kl = true does)"};
  }
  if (trials.path_kls.empty()) return {{}, "every model diverged"};
  return {PathKlRisk(trials.path_kls), ""};
}

}  // namespace

void audit_pairs(LedgerAudit& audit, const Ledger& ledger, const std::vector<std::size_t>& chosen,
                 const LedgerAuditOptions& asked) {
  const Study& study = *audit.study;
  std::vector<PolicyTrials> policies = trials_with_score(audit, ledger, chosen, asked.score);
  audit.access = score_called(audit.score, study.model.kind, Where::key("score")).access;
  // Thresholds are chosen for the first claim.
  if (!audit.claims.empty()) audit.options.delta = audit.claims.front().delta;
  const std::vector<ProvenBounds> proven = proven_bounds(study, audit.identity);
  for (const std::size_t p : chosen) {
    PolicyTrials& trials = policies[p];
    const std::string& policy = study.noise[p].name;
    if (trials.scores.empty()) {
      throw InvalidArgument(fmt::format("holds no finished trial of the policy \"{}\"", policy),
                            "Run the study first: sfumato study run", Where::in(audit.ledger));
    }
    PairedModels found{audit_scores(trials.scores, audit.options), proven[p],
                       path_kl_of(study, trials)};
    found.quantities =
        two_sided(found.audit, found.proven, found.path_kl, audit.deltas, audit.epsilons);
    found.scores = pooled(trials.scores);
    found.infinite = infinite_paths(study, trials);
    found.losses = {{std::move(trials.differing_losses[0]), std::move(trials.differing_losses[1])},
                    trials.worst_loss,
                    trials.largest_loss};
    const bool reversed = scores_reversed(found.scores);
    std::vector<ClaimCheck> claims;
    for (const ClaimedGuarantee& claim : audit.claims) {
      claims.push_back(check_claim(found.audit, claim, reversed));
    }
    audit.policies.push_back(
        {policy, trials.diverged, trials.failed, std::move(found), std::move(claims)});
  }
}

}  // namespace sfumato::lab
