#pragma once

#include <string>
#include <vector>

#include "rows/input.hpp"
#include "sfumato/privacy/row_risk.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato::cli {

/// What was asked, for the words around the numbers.
struct RowsQuestion {
  std::string source;
  RidgeOptions ridge;
  RowRiskOptions risk;
  bool standardised_by_self = false;
  std::string standardised_by;  ///< file of public constants; empty if none
  std::string replacement_file;
  std::size_t top = 10;
};

/// Adds the riskiest rows, quantiles, a histogram and what the numbers mean.
void add_row_risks(Document& document, const RowsQuestion& question, const RegressionInput& input,
                   const std::vector<RowRisk>& risks);

/// One line per row, in the order of the table, every digit.
/// Throws StorageError if the file cannot be written.
void write_row_risks(const std::string& path, const RowsQuestion& question,
                     const RegressionInput& input, const std::vector<RowRisk>& risks);

}  // namespace sfumato::cli
