#include "sfumato/data/target_table.hpp"

#include <fmt/format.h>

#include <charconv>

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

Eigen::Index target_column(const DataTable& table, const std::string& target) {
  if (target.empty()) return table.values.cols() - 1;
  if (!table.columns.empty()) return column_of(table, target);
  Eigen::Index number = 0;
  const char* end = target.data() + target.size();
  const auto parsed = std::from_chars(target.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end || number < 1 || number > table.values.cols()) {
    throw InvalidArgument(fmt::format("the label column {} is not one of 1 to {}", shown(target),
                                      table.values.cols()),
                          "Give the number of a column: the table has no header",
                          Where::in(table.source));
  }
  return number - 1;
}

}  // namespace

TargetTable read_target_table(const std::string& path, const std::string& target) {
  const std::string bytes = read_file(path);
  DataTable table = parse_table(bytes, path);
  if (table.values.cols() < 2) {
    throw InvalidArgument("has one column, so no features beside the labels",
                          "Give a column of labels and one feature or more", Where::in(path));
  }
  const Eigen::Index column = target_column(table, target);
  return {std::move(table), column, sha256(bytes)};
}

}  // namespace sfumato
