#pragma once

#include "sfumato/report/row_field.hpp"
#include "sfumato/rows/rows_answer.hpp"

namespace sfumato {

/// The listed rows: in full with every number, in brief in their worse direction and with the median.
[[nodiscard]] Table riskiest_rows(const RowsAnswer& answer, Detail detail);

/// How the worse direction of each number is spread.
/// Assumes  at least one row was computed.
[[nodiscard]] Table quantiles(const RowsAnswer& answer);

/// The advantage of every row, riskiest first; of many rows, those whose ranks are evenly spread on a
/// logarithmic axis.
[[nodiscard]] Figure ranked(const RowsAnswer& answer);

/// Adds the numbers of the listed rows and of the median for programs.
void add_results(Document& document, const RowsAnswer& answer);

/// Adds the bounds beside the simulated paths, and what they mean.
void add_checks(Document& document, const RowsAnswer& answer);
/// Adds what is wrong with the bounds, if anything is.
void add_check_verdict(Document& document, const RowsAnswer& answer);

}  // namespace sfumato
