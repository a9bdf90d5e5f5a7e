#include "sfumato/answers/fit/canary.hpp"

#include "sfumato/audit/score_audit.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/parallel.hpp"
#include "sfumato/divergence/gdp.hpp"
#include "sfumato/fit/canary.hpp"

namespace sfumato {

FitAudit audit_by_canary(const PublicTable& table, const FitPlan& plan, const FitQuestion& question,
                         Observer& observer) {
  if (table.relation == NeighbouringRelation::replace_one) {
    throw InvalidArgument("the canary is a record against none, not against another",
                          "Audit with `adjacency` = add_remove: the implementation is the same",
                          Where::key("audit_runs"));
  }
  FitPlan whole = plan;
  whole.holdout = 0.0;
  const std::uint64_t runs = question.audit_runs;
  ScoreSample sample{std::vector<double>(runs), std::vector<double>(runs)};
  Observer nobody;  // a run is short: the blocks below report and stop
  const std::uint64_t done =
      parallel_blocks({"audit", runs, 16}, observer, [&](std::uint64_t first, std::uint64_t last) {
        for (std::uint64_t i = first; i < last; ++i) {
          const auto key = [&](std::uint64_t world) {
            return question.seed ? ReleaseKey::from_seed(*question.seed + 2 * i + world + 1)
                                 : ReleaseKey::from_system();
          };
          sample.with[i] = canary_score(table, whole, true, key(0), nobody);
          sample.without[i] = canary_score(table, whole, false, key(1), nobody);
        }
      });
  if (done < runs) throw Stopped{};
  AuditOptions options;
  options.confidence = 0.999;
  options.delta = Delta(question.target_delta);
  const Audit audit = audit_scores(sample, options);
  const Claimed<Epsilon> epsilon = audit.epsilon(options.delta);
  FitAudit found{runs, audit.mu(), map(epsilon, [](Epsilon e) { return e.nats(); }), plan.fit_mu(),
                 Verdict::not_refuted};
  // The mechanisms are Gaussian, hence mu refutes as well (Spec §25.1).
  if (found.mu.value > plan.fit_mu() ||
      epsilon.value.nats() > gdp_epsilon(plan.fit_mu(), options.delta).nats()) {
    found.verdict = Verdict::violated;
  }
  return found;
}

}  // namespace sfumato
