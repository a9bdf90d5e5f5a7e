#include "sfumato/study/plan.hpp"

namespace sfumato {

std::uint64_t models_per_sample(const AuditSpec& audit) {
  return audit.random_pairs ? std::uint64_t{audit.pairs} * audit.replicas : audit.replicas;
}

Audit perfect_audit(const AuditSpec& audit, const AuditOptions& options) {
  const std::uint64_t models = models_per_sample(audit);
  const ScoreSample sample{std::vector<double>(models, 1.0), std::vector<double>(models, 0.0)};
  const std::vector<ScoreSample> samples(audit.random_pairs ? 1 : audit.pairs, sample);
  return audit_scores(samples, options);
}

}  // namespace sfumato
