#pragma once

#include <functional>
#include <vector>

#include "sfumato/rows/riskiest.hpp"

namespace sfumato {

/// The computed rows.
[[nodiscard]] std::vector<const RowRisk*> computed(const std::vector<RowRisk>& risks);

/// The larger of two numbers, a bound if either is one.
[[nodiscard]] RiskNumber larger(const RiskNumber& a, const RiskNumber& b);

/// The smallest value that at least the share `level` of the computed rows do not exceed: no interpolation, so
/// that every quantile is the risk of some row.
/// Assumes  at least one row was computed.
[[nodiscard]] RiskNumber quantile(const std::vector<RowRisk>& risks,
                                  const std::function<RiskNumber(const RowRisk&)>& of,
                                  double level);

}  // namespace sfumato
