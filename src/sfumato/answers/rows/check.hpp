#pragma once

#include <vector>

#include "sfumato/privacy/classification_check.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato {

/// A row's proven bound beside the estimate from simulated paths.
struct CheckedRow {
  RowRisk risk;
  RowCheck check;
};

/// The `count` riskiest rows (as the tables rank them), checked one after the other until the observer
/// asks to stop.
[[nodiscard]] std::vector<CheckedRow> check_riskiest(
    const ClassificationFit& fit, const RowRiskOptions& options, const std::vector<RowRisk>& risks,
    std::size_t count, const RowCheckOptions& check, Observer& observer);

/// Adds the table and what it means. False, with a loud warning, if an estimate is more than four
/// standard errors above its bound.
[[nodiscard]] bool add_checks(Document& document, const std::vector<CheckedRow>& checks);

}  // namespace sfumato
