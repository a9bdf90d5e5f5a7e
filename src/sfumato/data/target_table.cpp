#include "sfumato/data/target_table.hpp"

#include <fmt/format.h>

#include <unordered_set>
#include <utility>

#include "sfumato/core/error.hpp"
#include "sfumato/data/array.hpp"
#include "sfumato/data/array_file.hpp"
#include "sfumato/data/checksum.hpp"
#include "sfumato/data/file_input.hpp"
#include "sfumato/data/npy.hpp"
#include "sfumato/data/text.hpp"

namespace sfumato {
namespace {

DataTable parse_array(const std::string& bytes, const std::string& path,
                      const TargetColumns& columns) {
  DataTable table;
  table.source = path;
  table.values = parse_npy(bytes, path).values;
  require_all_finite("the table", table.values, Where::in(path));
  for (Eigen::Index i = 1; i <= table.values.cols(); ++i) {
    table.columns.push_back(fmt::format("{}", i));
  }
  if (!columns.id.empty()) {
    throw InvalidArgument("an NPY file holds numbers alone, no names of rows",
                          "Give a CSV file, or leave the id out", Where::in(path));
  }
  return table;
}

DataTable parse_table(const std::string& bytes, const std::string& path,
                      const TargetColumns& columns, TableFile file, CsvOptions csv) {
  csv.id = columns.id;
  csv.only = columns.features;
  if (!columns.target.empty()) {
    csv.needed = {columns.target};
    if (!csv.only.empty()) csv.only.push_back(columns.target);
  }
  if (file == TableFile::named) return parse_csv(bytes, path, csv);
  const std::string suffix = suffix_of(path);
  if (suffix == ".npy") return parse_array(bytes, path, columns);
  if (suffix != ".csv") {
    throw InvalidArgument("the suffix is neither .csv nor .npy", "Give a CSV or NPY file",
                          Where::in(path));
  }
  csv.number_columns = true;
  return parse_csv_matrix(bytes, path, csv);
}

/// Each column has one part.
void require_apart(const TargetColumns& columns, const std::string& path) {
  std::unordered_set<std::string_view> seen;
  for (const std::string& column : columns.features) {
    if (seen.insert(column).second) continue;
    throw InvalidArgument(fmt::format("column {} is named twice", shown(column)),
                          "Name each feature once", Where::in(path));
  }
  const auto refuse = [&](const std::string& column, const char* a, const char* b) {
    throw InvalidArgument(fmt::format("column {} is both {} and {}", shown(column), a, b),
                          "Name it once", Where::in(path));
  };
  if (seen.contains(columns.target)) refuse(columns.target, "target", "feature");
  if (columns.id.empty()) return;
  if (seen.contains(columns.id)) refuse(columns.id, "id", "feature");
  if (columns.id == columns.target) refuse(columns.id, "id", "target");
}

std::vector<std::string> names_of(const DataTable& table, const TargetColumns& columns) {
  const std::string target = columns.target.empty() ? table.columns.back() : columns.target;
  std::vector<std::string> names = columns.features;
  if (names.empty()) {
    for (const std::string& column : table.columns) {
      if (column != target) names.push_back(column);
    }
  }
  names.push_back(target);
  return names;
}

}  // namespace

TargetTable read_target_table(const std::string& path, const TargetColumns& columns, TableFile file,
                              const CsvOptions& csv) {
  require_apart(columns, path);
  const std::string bytes = read_file(path);
  DataTable table = parse_table(bytes, path, columns, file, csv);
  TargetTable result;
  result.names = names_of(table, columns);
  result.values.resize(table.values.rows(), static_cast<Eigen::Index>(result.names.size()));
  Eigen::Index to = 0;
  for (const Eigen::Index from : columns_of(table, result.names)) {
    result.values.col(to++) = table.values.col(from);
  }
  result.source = path;
  result.lines = std::move(table.lines);
  result.dropped = table.dropped;
  result.ids = std::move(table.ids);
  result.checksum = sha256(bytes);
  return result;
}

Where place_of(const TargetTable& table, Eigen::Index row) {
  return table.lines.empty() ? Where::in(table.source)
                             : Where::at(table.source, table.lines[static_cast<std::size_t>(row)]);
}

}  // namespace sfumato
