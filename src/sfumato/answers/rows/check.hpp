#pragma once

#include <vector>

#include "sfumato/core/verdict.hpp"
#include "sfumato/privacy/classification_check.hpp"

namespace sfumato {

/// An estimate above its bound by more standard errors than this refutes the bound: a false alarm in 30,000
/// checks, were the bound attained.
inline constexpr double kAllowedErrors = 4.0;

/// A row's proven bound beside the estimate from simulated paths.
struct CheckedRow {
  RowRisk risk;
  RowCheck check;

  /// Violated: the estimate is more than kAllowedErrors above the bound. Open: there is no estimate, or it is
  /// one of the long run, where the proven bound has another argument too and may be the smaller one.
  [[nodiscard]] Verdict verdict() const;
};

/// The `count` riskiest rows (as riskiest() ranks them), checked one after the other until the observer
/// asks to stop.
[[nodiscard]] std::vector<CheckedRow> check_riskiest(
    const ClassificationFit& fit, const RowRiskOptions& options, const std::vector<RowRisk>& risks,
    std::size_t count, const RowCheckOptions& check, Observer& observer);

}  // namespace sfumato
