#include "sfumato/lab/audit/options.hpp"

#include "lab/audit/audit_keys.hpp"
#include "sfumato/core/check.hpp"

namespace sfumato::lab {

void check(const LedgerAuditOptions& options) {
  if (options.confidence) require_key("confidence", *options.confidence, not_a_confidence);
  require_key("delta", options.deltas, not_a_delta);
  require_key("epsilons", options.epsilons, not_an_epsilon);
  require_key("choosing", options.choosing, not_a_confidence);
  if ((options.strategy == ThresholdStrategy::fixed) != !options.thresholds.empty()) {
    throw InvalidArgument("goes with the strategy `fixed`, which needs it", "",
                          Where::key("threshold"));
  }
  if (options.look && *options.look == 0) {
    throw InvalidArgument("interim looks count from 1", "", Where::key("look"));
  }
}

AuditOptions audit_options(const LedgerAuditOptions& options, double confidence, Delta delta) {
  AuditOptions audit;
  audit.confidence = options.confidence.value_or(confidence);
  audit.strategy = options.strategy;
  audit.delta = options.claim ? options.claim->delta : delta;
  audit.choosing_fraction = options.choosing;
  audit.seed = options.seed;
  audit.thresholds = options.thresholds;
  audit.look = options.look.value_or(1);
  audit.more_looks = options.look.has_value();
  return audit;
}

}  // namespace sfumato::lab
