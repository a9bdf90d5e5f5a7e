#include "lab/study/plan.hpp"

namespace sfumato::lab {

std::uint64_t models_per_sample(const AuditSpec& audit) {
  return audit.random_pairs ? std::uint64_t{audit.pairs} * audit.replicas : audit.replicas;
}

PlannedModels planned_models(const AuditSpec& audit) {
  return {models_per_sample(audit), audit.random_pairs ? 1 : audit.pairs};
}

Audit maximum_audit(const AuditSpec& audit, const AuditOptions& options) {
  return maximum_audit(planned_models(audit), options);
}

}  // namespace sfumato::lab
