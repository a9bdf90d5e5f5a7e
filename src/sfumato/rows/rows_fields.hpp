#pragma once

#include <string>
#include <vector>

#include "sfumato/data/file_output.hpp"
#include "sfumato/report/row_field.hpp"
#include "sfumato/rows/rows_answer.hpp"

namespace sfumato {

/// Every number of a row: the tables of rows in full and in brief, quantiles, results, the CSV file and the columns in
/// Python follow from this list. In full it is both directions, and mu where the model has one; results are the worse
/// direction of each.
[[nodiscard]] RowFields<RowRisk, RiskNumber> risk_fields(const RowsAnswer& answer);

/// What explains the risk of a row: the leverage (ridge), or norm and fit (logistic).
/// Assumes  the answer outlives them.
[[nodiscard]] RowFields<RowRisk, Claimed<double>> trait_fields(const RowsAnswer& answer);

/// The number as a cell; empty where nothing is proven.
[[nodiscard]] Cell cell_of(const RiskNumber& number, const std::string& method);

/// Writes one line per row, in the order of the table, every digit. `claim` is that of its numbers, but for those that
/// `upper_bounds` names: beside exact numbers they are upper bounds.
/// Throws StorageError if the file cannot be written.
void write_csv(const std::string& path, const RowsAnswer& answer, const WriteRules& rules = {});

}  // namespace sfumato
