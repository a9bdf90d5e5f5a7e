#pragma once

#include <vector>

#include "sfumato/rows/classification_check.hpp"
#include "sfumato/rows/rows_answer.hpp"

namespace sfumato {

/// The `count` riskiest rows (as riskiest() ranks them), checked one after the other until the observer
/// asks to stop.
[[nodiscard]] std::vector<CheckedRow> check_riskiest(
    const ClassificationFit& fit, const RowRiskOptions& options, const std::vector<RowRisk>& risks,
    std::size_t count, const RowCheckOptions& check, Observer& observer);

}  // namespace sfumato
