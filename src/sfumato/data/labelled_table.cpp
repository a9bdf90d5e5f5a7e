#include "sfumato/data/labelled_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "sfumato/core/error.hpp"
#include "sfumato/data/array.hpp"
#include "sfumato/data/array_file.hpp"
#include "sfumato/data/checksum.hpp"
#include "sfumato/data/csv.hpp"
#include "sfumato/data/file_input.hpp"
#include "sfumato/data/npy.hpp"
#include "sfumato/data/text.hpp"

namespace sfumato {
namespace {

DataTable parse_table(const std::string& bytes, const std::string& path) {
  const std::string suffix = suffix_of(path);
  if (suffix == ".csv") return parse_csv_matrix(bytes, path);
  if (suffix != ".npy") {
    throw InvalidArgument("the suffix is neither .csv nor .npy", "Give a CSV or NPY file",
                          Where::in(path));
  }
  DataTable table;
  table.source = path;
  table.values = parse_npy(bytes, path).values;
  require_all_finite("the table", table.values, Where::in(path));
  return table;
}

Eigen::Index label_column(const DataTable& table, const std::string& label) {
  if (label.empty()) return table.values.cols() - 1;
  if (!table.columns.empty()) return column_of(table, label);
  Eigen::Index number = 0;
  const char* end = label.data() + label.size();
  const auto parsed = std::from_chars(label.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end || number < 1 || number > table.values.cols()) {
    throw InvalidArgument(
        fmt::format("the label column {} is not one of 1 to {}", shown(label), table.values.cols()),
        "Give the number of a column: the table has no header", Where::in(table.source));
  }
  return number - 1;
}

std::uint8_t label_of(const DataTable& table, Eigen::Index row, Eigen::Index column, int classes) {
  const double value = table.values(row, column);
  const double end = classes > 0 ? classes : 256;
  if (!(value >= 0.0 && value < end) || value != std::floor(value)) {
    const auto line = static_cast<std::size_t>(row);
    throw InvalidArgument(
        fmt::format("the label {} of row {} is not an integer from 0 to {}", value, row + 1,
                    end - 1),
        "Number the classes from 0",
        table.lines.empty() ? Where::in(table.source) : Where::at(table.source, table.lines[line]));
  }
  return static_cast<std::uint8_t>(value);
}

}  // namespace

LabelledSet read_labelled_table(const std::string& path, const LabelledTableOptions& options) {
  const std::string bytes = read_file(path);
  const DataTable table = parse_table(bytes, path);
  const Eigen::Index rows = table.values.rows(), columns = table.values.cols();
  if (columns < 2) {
    throw InvalidArgument("has one column, so no features beside the labels",
                          "Give a column of labels and one feature or more", Where::in(path));
  }
  const Eigen::Index label = label_column(table, options.label);
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
  set.checksum = sha256(bytes);
  require_consistent(set);
  return set;
}

}  // namespace sfumato
