#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sfumato/report/table.hpp"
#include "sfumato/rows/rows_answer.hpp"

namespace sfumato {

/// One number of a row's risk as a column of tables and files.
struct RiskColumn {
  std::string key;
  std::string title;
  NumberStyle style;
  std::function<RiskNumber(const RowRisk&)> of;
};

/// Everything, in both directions; mu where the model has one.
[[nodiscard]] std::vector<RiskColumn> all_columns(const RowsAnswer& answer);

/// The worse direction of each number.
[[nodiscard]] std::vector<RiskColumn> worse_columns(const RowsAnswer& answer);

/// Something about a row that explains its risk.
struct TraitColumn {
  std::string key;
  std::string title;
  std::string method;
  std::function<RiskNumber(const RowRisk&)> of;
};

/// The leverage (ridge), or norm and fit (logistic).
/// Assumes  the answer outlives them.
[[nodiscard]] std::vector<TraitColumn> trait_columns(const RowsAnswer& answer);

/// The number as a cell; empty where nothing is proven.
[[nodiscard]] Cell cell_of(const RiskNumber& number, const std::string& method);

}  // namespace sfumato
