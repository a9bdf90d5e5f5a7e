#pragma once

#include <functional>
#include <vector>

#include "sfumato/risk/risk.hpp"
#include "sfumato/rows/riskiest.hpp"

namespace sfumato {

/// Fills in advantage and both directions from what is known of the two distributions; the status becomes ok.
void set_views(RowRisk& row, const Risk& risk, const RowRiskOptions& options);

/// The rows that are asked for, of a table of so many.
/// Throws   InvalidArgument if one does not exist.
[[nodiscard]] std::vector<Eigen::Index> rows_to_compute(const RowRiskOptions& options,
                                                        Eigen::Index rows);

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
