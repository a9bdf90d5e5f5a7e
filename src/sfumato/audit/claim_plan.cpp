#include "sfumato/audit/claim_plan.hpp"

#include <algorithm>
#include <array>

namespace sfumato {
namespace {

ThresholdPlan plan_thresholds(const ClaimedGuarantee& claim, const PlannedModels& models,
                              const AuditOptions& options) {
  // What is needed does not depend on what is planned, and two models can be split.
  const bool splits = options.strategy == ThresholdStrategy::combined ||
                      options.strategy == ThresholdStrategy::held_out;
  const bool too_few = models.per_world < (splits ? 2 : 1);
  PlannedModels audited = models;
  if (too_few) audited.per_world = 2;
  const Audit perfect = maximum_audit(audited, options);
  const auto needed = [&](const AttackRates& attack) {
    return perfect.runs_to_refute(claim.epsilon, claim.delta, attack);
  };
  ThresholdPlan plan{options.strategy, {}, {needed({}), needed({0.5, 0.01}), needed({0.1, 0.001})}};
  if (models.per_world != 0) {
    plan.maximum = Claimed<double>{too_few ? 0.0 : perfect.maximum_epsilon(claim.delta),
                                   Claim::exact, "an attack that never errs"};
  }
  return plan;
}

}  // namespace

Audit maximum_audit(const PlannedModels& models, const AuditOptions& options) {
  const ScoreSample sample{std::vector<double>(models.per_world, 1.0),
                           std::vector<double>(models.per_world, 0.0)};
  return audit_scores(std::vector<ScoreSample>(models.samples, sample), options);
}

ClaimPlan plan_claim(const ClaimedGuarantee& claim, const PlannedModels& models,
                     AuditOptions options) {
  std::array strategies = {ThresholdStrategy::combined, ThresholdStrategy::held_out,
                           ThresholdStrategy::ranks, ThresholdStrategy::fixed};
  const auto asked = std::find(strategies.begin(), strategies.end(), options.strategy);
  std::rotate(strategies.begin(), asked, std::next(asked));
  options.delta = claim.delta;
  if (options.thresholds.empty()) options.thresholds = {0.5};
  ClaimPlan plan{claim, models, {}};
  for (const ThresholdStrategy strategy : strategies) {
    options.strategy = strategy;
    plan.plans.push_back(plan_thresholds(claim, models, options));
  }
  return plan;
}

}  // namespace sfumato
