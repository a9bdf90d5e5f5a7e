#pragma once

#include <cstdint>

#include "lab/study/spec/study.hpp"
#include "sfumato/audit/claim_plan.hpp"

namespace sfumato::lab {

/// Models per world in each sample of an audit of the study: replicas of a pair or, where each replica
/// draws its pair, all of them in one sample.
[[nodiscard]] std::uint64_t models_per_sample(const AuditSpec& audit);

[[nodiscard]] PlannedModels planned_models(const AuditSpec& audit);

/// The audit of the planned models if the attack never erred: its maximum_epsilon() is what the planned
/// number of runs can show at most (Spec §11.3), its runs_to_refute() how many would be needed.
///
/// Throws   as audit_scores(): held_out needs two models per world.
[[nodiscard]] Audit maximum_audit(const AuditSpec& audit, const AuditOptions& options);

}  // namespace sfumato::lab
