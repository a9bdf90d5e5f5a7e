#include "sfumato/data/labelled_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sfumato/core/error.hpp"
#include "sfumato/data/target_table.hpp"

namespace sfumato {
namespace {

std::uint8_t label_of(const DataTable& table, Eigen::Index row, Eigen::Index column, int classes) {
  const double value = table.values(row, column);
  const double end = classes > 0 ? classes : 256;
  if (!(value >= 0.0 && value < end) || value != std::floor(value)) {
    const auto line = static_cast<std::size_t>(row);
    throw InvalidArgument(
        fmt::format("the label of row {} is not an integer from 0 to {}", row + 1, end - 1),
        "Number the classes from 0",
        table.lines.empty() ? Where::in(table.source) : Where::at(table.source, table.lines[line]));
  }
  return static_cast<std::uint8_t>(value);
}

}  // namespace

LabelledSet read_labelled_table(const std::string& path, const LabelledTableOptions& options) {
  const auto [table, label, checksum] = read_target_table(path, options.label);
  const Eigen::Index rows = table.values.rows(), columns = table.values.cols();
  LabelledSet set;
  set.name = path;
  set.shape = {static_cast<int>(columns - 1), 1, 1};
  std::vector<float> features;
  features.reserve(static_cast<std::size_t>(rows * (columns - 1)));
  for (Eigen::Index row = 0; row < rows; ++row) {
    for (Eigen::Index column = 0; column < columns; ++column) {
      if (column != label) features.push_back(static_cast<float>(table.values(row, column)));
    }
    set.labels.push_back(label_of(table, row, label, options.classes));
  }
  set.values = std::move(features);
  set.classes = options.classes > 0
                    ? options.classes
                    : std::max(2, 1 + *std::max_element(set.labels.begin(), set.labels.end()));
  set.standardisation = options.standardisation;
  set.files = {path};
  set.checksum = checksum;
  require_consistent(set);
  return set;
}

}  // namespace sfumato
