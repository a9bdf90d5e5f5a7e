#include "sfumato/fit/fit_canary.hpp"

#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <numbers>

#include "sfumato/audit/score_audit.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/parallel.hpp"
#include "sfumato/divergence/gdp.hpp"
#include "sfumato/fit/canary.hpp"

namespace sfumato {
namespace {

double normal_quantile(double p) { return -std::numbers::sqrt2 * boost::math::erfc_inv(2.0 * p); }

/// Scores as they are expected of a mechanism with this mu: quantiles of N(0, 1) and N(mu, 1).
ScoreSample expected_scores(std::uint64_t runs, double mu) {
  ScoreSample sample;
  for (std::uint64_t i = 0; i < runs; ++i) {
    const double share = (static_cast<double>(i) + 0.5) / static_cast<double>(runs);
    sample.without.push_back(normal_quantile(share));
    sample.with.push_back(sample.without.back() + mu);
  }
  return sample;
}

/// The least mu, to three digits, of which so many fits show more than `proven`; `most` if they show no more of less.
double noticed_mu(std::uint64_t runs, const AuditOptions& options, double proven, double most) {
  double low = proven, high = most;
  while (high - low > 5e-4 * high) {
    const double middle = 0.5 * (low + high);
    const bool noticed = audit_scores(expected_scores(runs, middle), options).mu().value > proven;
    (noticed ? high : low) = middle;
  }
  return high;
}

}  // namespace

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
  // N(0, 1) and N(mu, 1) do not overlap in so many quantiles.
  const double apart = 4.0 * std::fabs(normal_quantile(0.5 / static_cast<double>(runs))) + 1.0;
  const double maximum = audit_scores(expected_scores(runs, apart), options).mu().value;
  const bool enough = maximum > plan.fit_mu();
  FitAudit found{runs,
                 audit.mu(),
                 map(epsilon, [](Epsilon e) { return e.nats(); }),
                 plan.fit_mu(),
                 maximum,
                 enough ? noticed_mu(runs, options, plan.fit_mu(), apart) : HUGE_VAL,
                 enough ? Verdict::not_refuted : Verdict::open};
  // The mechanisms are Gaussian, hence mu refutes as well (Spec §25.1).
  if (found.mu.value > plan.fit_mu() ||
      epsilon.value.nats() > gdp_epsilon(plan.fit_mu(), options.delta).nats()) {
    found.verdict = Verdict::violated;
  }
  return found;
}

}  // namespace sfumato
