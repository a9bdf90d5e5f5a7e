#pragma once

#include <string>
#include <vector>

#include "sfumato/answers/rows/input.hpp"
#include "sfumato/answers/rows/options.hpp"
#include "sfumato/answers/rows/views.hpp"
#include "sfumato/privacy/row_risk.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato {

/// What was asked, for the words around the numbers.
struct RowsQuestion {
  RowsModel model = RowsModel::ridge;
  RidgeOptions ridge;
  RowRiskOptions risk;
  bool standardised_by_self = false;
  std::string standardised_by;  ///< file of public constants; empty if none
  std::string replacement_file;
  std::size_t top = 10;
};

/// Adds what was asked, the riskiest rows, quantiles, a histogram and the rows without a number.
void add_row_risks(Document& document, const RowsQuestion& question, const RegressionInput& input,
                   const std::vector<RowRisk>& risks, const std::vector<Trait>& traits);

/// Adds what the numbers mean, assume and leave out.
void add_caveats(Document& document, const RowsQuestion& question, const RegressionInput& input);

/// One line per row, in the order of the table, every digit.
/// Throws StorageError if the file cannot be written.
void write_row_risks(const std::string& path, const RowsQuestion& question,
                     const RegressionInput& input, const std::vector<RowRisk>& risks,
                     const std::vector<Trait>& traits);

}  // namespace sfumato
