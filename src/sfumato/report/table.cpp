#include "sfumato/report/table.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sfumato/core/error.hpp"

namespace sfumato {

Cell::Cell(double input) : content_(input) {
  if (std::isnan(input)) throw InternalError("a cell is NaN");
}

Cell::Cell(Claimed<double> claimed) : content_(std::move(claimed)) {
  const auto& kept = std::get<Claimed<double>>(content_);
  if (std::isnan(kept.value)) {
    throw InternalError(fmt::format("a claimed cell is NaN (method: {})", kept.method));
  }
}

void Cell::refuse_integer() { throw InternalError("an integer cell exceeds 64 signed bits"); }

Table::Table(std::string key, std::string title, std::vector<Column> columns,
             std::size_t key_columns)
    : key_(std::move(key)),
      title_(std::move(title)),
      columns_(std::move(columns)),
      key_columns_(key_columns) {
  if (columns_.empty()) throw InternalError(fmt::format("table '{}' has no columns", key_));
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    bool usable = !columns_[i].key.empty();
    for (std::size_t j = 0; j < i; ++j) usable = usable && columns_[i].key != columns_[j].key;
    if (!usable) {
      throw InternalError(fmt::format("table '{}': column key '{}' is empty or occurs twice", key_,
                                      columns_[i].key));
    }
  }
}

void Table::add_row(std::vector<Cell> cells) {
  if (cells.size() != columns_.size()) {
    throw InternalError(fmt::format("table '{}' has {} columns but a row has {} cells", key_,
                                    columns_.size(), cells.size()));
  }
  rows_.push_back(std::move(cells));
}

}  // namespace sfumato
