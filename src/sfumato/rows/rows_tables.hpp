#pragma once

#include <string>
#include <vector>

#include "sfumato/report/document.hpp"
#include "sfumato/rows/rows_answer.hpp"

namespace sfumato {

/// The rows that the question asks to list (`otherwise` where it does not say): first those without which there
/// is no model, whose presence is plain, then by risk.
[[nodiscard]] std::vector<const RowRisk*> listed(const RowsAnswer& answer, std::size_t otherwise);

/// "The 10 riskiest of 442 rows".
[[nodiscard]] std::string title_of(const RowsAnswer& answer, std::size_t count);

/// The listed rows with every number.
[[nodiscard]] Table riskiest_rows(const RowsAnswer& answer);

/// How the worse direction of each number is spread.
/// Assumes  at least one row was computed.
[[nodiscard]] Table quantiles(const RowsAnswer& answer);

/// The advantage of every row, riskiest first; of many rows, those whose ranks are evenly spread on a
/// logarithmic axis.
[[nodiscard]] Figure ranked(const RowsAnswer& answer);

/// Adds the numbers of the listed rows and of the median for programs.
void add_results(Document& document, const RowsAnswer& answer);

}  // namespace sfumato
