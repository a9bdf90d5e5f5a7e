#include "sfumato/rows/rows_check.hpp"

#include "sfumato/rows/ranking.hpp"

namespace sfumato {
namespace {

bool exceeds(const MonteCarloMean& estimate, const RiskNumber& bound) {
  return estimate.value - kAllowedErrors * estimate.standard_error > bound.value;
}

}  // namespace

Verdict CheckedRow::verdict() const {
  if (check.paths == 0 || check.stationary) return Verdict::open;
  const bool above =
      exceeds(check.forward, risk.forward.kl) || exceeds(check.reverse, risk.reverse.kl);
  return above ? Verdict::violated : Verdict::not_refuted;
}

std::vector<CheckedRow> check_riskiest(const ClassificationFit& fit, const RowRiskOptions& options,
                                       const std::vector<RowRisk>& risks, std::size_t count,
                                       const RowCheckOptions& check, Observer& observer) {
  std::vector<CheckedRow> checked;
  for (const RowRisk* risk : riskiest(risks, count)) {
    if (observer.stop_requested()) break;
    checked.push_back({*risk, check_row(fit, risk->row, options, check, observer)});
  }
  return checked;
}

}  // namespace sfumato
