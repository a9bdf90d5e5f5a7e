#pragma once

#include "sfumato/risk/risk.hpp"
#include "sfumato/rows/row_risk.hpp"

namespace sfumato {

/// Fills in advantage and both directions from what is known of the two laws; the status becomes ok.
void set_views(RowRisk& row, const Risk& risk, const RowRiskOptions& options);

/// The rows that are asked for, of a table of so many.
/// Throws   InvalidArgument if one does not exist.
[[nodiscard]] std::vector<Eigen::Index> rows_to_compute(const RowRiskOptions& options,
                                                        Eigen::Index rows);

}  // namespace sfumato
