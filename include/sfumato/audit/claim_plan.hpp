#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sfumato/audit/claim_check.hpp"
#include "sfumato/audit/score_audit.hpp"
#include "sfumato/core/claim.hpp"

namespace sfumato {

/// Models that an audit is planned with.
struct PlannedModels {
  std::uint64_t per_world = 0;  ///< in each sample; 0: not settled yet
  std::size_t samples = 1;      ///< which share the confidence
};

/// The audit of so many models if the attack never erred: its maximum_epsilon() is what they can show at most
/// (Spec §11.3), its runs_to_refute() how many would be needed.
///
/// Throws   as audit_scores(): held_out and combined need two per world.
[[nodiscard]] Audit maximum_audit(const PlannedModels& models, const AuditOptions& options);

/// Models per world that it takes to refute a claim, for an attack that never errs and for weaker ones that do
/// as expected; none: more than 10^7.
struct RunsNeeded {
  std::optional<std::uint64_t> perfect;
  std::optional<std::uint64_t> half;   ///< TPR 50 % at FPR 1 %
  std::optional<std::uint64_t> tenth;  ///< TPR 10 % at FPR 0.1 %
};

/// What the audit of a claim can show if it chooses thresholds in one way.
struct ThresholdPlan {
  ThresholdStrategy strategy;
  /// Auditable epsilon of the planned models: that of an attack that never errs. None if they are not settled.
  std::optional<Claimed<double>> maximum;
  RunsNeeded needed;
};

struct ClaimPlan {
  ClaimedGuarantee claim;
  PlannedModels models;
  std::vector<ThresholdPlan> plans;  ///< by strategy, the one that was asked for first
  /// Whether the planned models can refute the claim at all; false if they are not settled.
  [[nodiscard]] bool enough() const {
    const auto& maximum = plans.front().maximum;
    return maximum && maximum->value > claim.epsilon.nats();
  }
};

/// What it takes to refute the claim, by every strategy. Of `options` the delta is the claim's, whatever it says;
/// thresholds of the strategy `fixed` count one where there are none.
///
/// Throws   InvalidArgument as level_of().
[[nodiscard]] ClaimPlan plan_claim(const ClaimedGuarantee& claim, const PlannedModels& models,
                                   AuditOptions options);

}  // namespace sfumato
