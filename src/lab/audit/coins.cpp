#include <fmt/format.h>

#include "lab/audit/parts.hpp"
#include "lab/study/coin_trials.hpp"
#include "lab/study/spec/study.hpp"
#include "sfumato/audit/canary_audit.hpp"
#include "sfumato/audit/score_smells.hpp"
#include "sfumato/audit/shadow_attacks.hpp"
#include "sfumato/lab/study/proven_bounds.hpp"

namespace sfumato::lab {
namespace {

void require_runs(const CoinTrials& trials, std::size_t least, const std::string& policy,
                  const std::string& ledger) {
  if (trials.runs.size() >= least) return;
  throw InvalidArgument(fmt::format("holds {} finished models of the policy \"{}\", {} are needed",
                                    trials.runs.size(), policy, least),
                        "Run the study first: sfumato study run", Where::in(ledger));
}

}  // namespace

void audit_canaries(LedgerAudit& audit, const Ledger& ledger,
                    const std::vector<std::size_t>& chosen, const LedgerAuditOptions& asked) {
  const std::vector<CoinTrials> policies = coin_trials(ledger, *audit.study);
  const std::vector<ProvenBounds> proven = proven_bounds(*audit.study, audit.identity);
  for (const std::size_t p : chosen) {
    const CoinTrials& trials = policies[p];
    const std::string& policy = audit.study->noise[p].name;
    require_runs(trials, 1, policy, audit.ledger);
    std::vector<CanaryScores> models;
    CanaryModels found;
    for (const CoinRun& run : trials.runs) {
      // The canaries come in the order of their slots, which their coins have no part in.
      models.push_back({run.scores, run.included, Ties::at_random});
      const ScoreSample sample = by_coin(models.back());
      found.scores.with.insert(found.scores.with.end(), sample.with.begin(), sample.with.end());
      found.scores.without.insert(found.scores.without.end(), sample.without.begin(),
                                  sample.without.end());
    }
    found.replicas = audit_replicas(models, audit.study->audit.replicas,
                                    {level_of(audit.options), asked.guesses, asked.seed});
    found.quantities = two_sided(found.replicas, proven[p], audit.deltas);
    const bool reversed = scores_reversed(found.scores);
    std::vector<ClaimCheck> claims;
    for (const ClaimedGuarantee& claim : audit.claims) {
      claims.push_back(check_claim(best_replica(found.replicas, claim.delta), claim, reversed));
    }
    audit.policies.push_back(
        {policy, trials.diverged, trials.failed, std::move(found), std::move(claims)});
  }
}

void audit_shadows(LedgerAudit& audit, const Ledger& ledger,
                   const std::vector<std::size_t>& chosen) {
  const std::vector<CoinTrials> policies = coin_trials(ledger, *audit.study);
  for (const std::size_t p : chosen) {
    const CoinTrials& trials = policies[p];
    const std::string& policy = audit.study->noise[p].name;
    require_runs(trials, 4, policy, audit.ledger);
    const ShadowScores shadows = shadow_scores(trials);
    ShadowModels found{trials.runs.size(), {}, {}, shadow_attacks(shadows)};
    std::vector<ClaimCheck> claims;
    if (trials.diverged + trials.failed != 0) {  // which may depend on the coins
      found.no_audit = "models diverged or failed: the others are no fair sample";
    } else {
      try {
        const ScoreSample sample = shadow_sample(shadows, audit.options.seed);
        found.audit = audit_scores(sample, audit.options);
        const bool reversed = scores_reversed(sample);
        for (const ClaimedGuarantee& claim : audit.claims) {
          claims.push_back(
              check_claim(*found.audit, claim, reversed, ClaimEvidence::shadow_models));
        }
      } catch (const InvalidArgument& error) {  // too few models for a bound, not for a description
        found.no_audit = error.what();
      }
    }
    audit.policies.push_back(
        {policy, trials.diverged, trials.failed, std::move(found), std::move(claims)});
  }
}

}  // namespace sfumato::lab
