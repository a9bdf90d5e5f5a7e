#include "sfumato/data/target_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "sfumato/core/error.hpp"
#include "sfumato/data/array.hpp"
#include "sfumato/data/checksum.hpp"
#include "sfumato/data/column_coder.hpp"
#include "sfumato/data/npy.hpp"
#include "sfumato/data/table.hpp"
#include "sfumato/data/text.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

DataTable parse_array(const std::string& bytes, const std::string& path,
                      const TargetColumns& columns) {
  DataTable table;
  table.source = path;
  table.values = parse_npy(bytes, path).values;
  require_all_finite("the table", table.values, Where::in(path));
  for (Index i = 1; i <= table.values.cols(); ++i) table.columns.push_back(fmt::format("{}", i));
  if (!columns.id.empty()) {
    throw InvalidArgument("an NPY file holds numbers alone, no names of rows",
                          "Give a CSV file, or leave the id out", Where::in(path));
  }
  if (!columns.categorical.empty() || !columns.references.empty() || !columns.positive.empty()) {
    throw InvalidArgument("an NPY file holds numbers alone, no categories",
                          "Give a CSV file for them", Where::in(path));
  }
  return table;
}

/// Columns whose numbers are texts: levels of a category, labels.
std::vector<std::string> text_columns(const TargetColumns& columns) {
  std::vector<std::string> names = columns.categorical;
  for (const auto& [column, level] : columns.references) names.push_back(column);
  if (!columns.positive.empty()) names.push_back(columns.target);
  return names;
}

MissingPolicy missing_policy(Impute impute, MissingPolicy otherwise) {
  switch (impute) {
    case Impute::refuse: return otherwise;
    case Impute::drop: return MissingPolicy::drop_row;
    case Impute::median:
    case Impute::mode: return MissingPolicy::keep;
  }
  throw InternalError("an unknown way to impute");
}

/// Options of reading columns that follow from the parts they play.
CsvOptions csv_options_for(const TargetColumns& columns, CsvOptions csv) {
  csv.id = columns.id;
  csv.only = columns.features;
  csv.exclude = columns.exclude;
  csv.keep_text = true;
  csv.as_text = text_columns(columns);
  csv.missing = missing_policy(columns.impute, csv.missing);
  if (!columns.target.empty()) {
    csv.needed = {columns.target};
    if (!csv.only.empty()) csv.only.push_back(columns.target);
  }
  return csv;
}

DataTable parse_table(const std::string& bytes, const std::string& path,
                      const TargetColumns& columns, TableFile file, CsvOptions csv) {
  const std::string source = table_source(path);
  csv = csv_options_for(columns, std::move(csv));
  if (file == TableFile::named) return parse_csv(bytes, source, csv);
  const std::string suffix = table_suffix(path);
  if (suffix == ".npy") return parse_array(bytes, source, columns);
  if (suffix != ".csv") {
    throw InvalidArgument("the suffix is neither .csv nor .npy", "Give a CSV or NPY file",
                          Where::in(source));
  }
  csv.number_columns = true;
  return parse_csv_matrix(bytes, source, csv);
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
  for (const std::string& column : columns.exclude) {
    if (seen.contains(column)) refuse(column, "excluded", "feature");
    if (column == columns.target) refuse(column, "excluded", "target");
  }
  for (const std::string& column : columns.categorical) {
    if (column == columns.target) refuse(column, "categorical", "target");
    if (column == columns.id) refuse(column, "categorical", "id");
  }
  if (columns.id.empty()) return;
  if (seen.contains(columns.id)) refuse(columns.id, "id", "feature");
  if (columns.id == columns.target) refuse(columns.id, "id", "target");
}

/// The columns of the file that are features, in the order in which they were named or stand.
std::vector<std::string> features_of(const DataTable& table, const TargetColumns& columns,
                                     const std::string& target) {
  if (!columns.features.empty()) return columns.features;
  std::vector<std::string> names;
  for (const std::string& column : table.columns) {
    if (column != target) names.push_back(column);
  }
  return names;
}

CodingChoice choice_for(const std::string& column, const TargetColumns& columns, bool adjustable) {
  CodingChoice choice{false, {}, columns.impute, adjustable};
  const auto& named = columns.categorical;
  choice.categorical = std::find(named.begin(), named.end(), column) != named.end();
  for (const auto& [of, level] : columns.references) {
    if (of != column) continue;
    choice.categorical = true;
    choice.reference = level;
  }
  return choice;
}

/// A target is never made up.
void require_target(const DataTable& table, Index column) {
  if (table.texts.empty()) return;
  for (const TextCells::Cell& cell : table.texts[static_cast<std::size_t>(column)].cells) {
    if (cell.level != TextCells::kMissing) continue;
    throw InvalidArgument(
        "the target is missing, and targets are not imputed",
        "Set `impute` to drop to leave such rows out, or fill it in",
        place_of_line(table.source, table.lines[cell.row],
                      table.texts[static_cast<std::size_t>(column)].field, table.in_memory));
  }
}

MatrixXd target_of(const DataTable& table, Index column, const TargetColumns& columns,
                   const std::vector<std::string>& known, bool adjustable) {
  require_target(table, column);
  if (!columns.positive.empty()) return coded_label(table, column, columns.positive, known);
  CodingChoice any;
  any.adjustable = adjustable;
  const ColumnCoding coding = coding_of(table, column, any);
  if (coding.kind == ColumnKind::category) {
    throw InvalidArgument(
        fmt::format("the target {} is text: {}", shown(coding.column),
                    shown_levels(coding.levels, coding.counts)),
        adjustable ? "Name the value that counts as 1 with `positive` (and set `model` to logistic)"
                   : "Code its values as numbers",
        Where::in(table.source));
  }
  return coded(coding, table, column);
}

void require_distinct(const std::vector<std::string>& names, const std::string& source) {
  std::unordered_set<std::string_view> seen;
  for (const std::string& name : names) {
    if (seen.insert(name).second) continue;
    throw InvalidArgument(fmt::format("two columns of numbers would be called {}", shown(name)),
                          "Rename a column", Where::in(source));
  }
}

/// Puts the parts side by side.
void assemble(TargetTable& result, const std::vector<MatrixXd>& parts) {
  Index width = 0;
  for (const MatrixXd& part : parts) width += part.cols();
  result.values.resize(parts.back().rows(), width);
  Index at = 0;
  for (const MatrixXd& part : parts) {
    result.values.middleCols(at, part.cols()) = part;
    at += part.cols();
  }
}

/// The parts of a table side by side, coded.
TargetTable code(DataTable table, const TargetColumns& columns, const CsvOptions& csv,
                 const TargetTable* like) {
  const std::string target = columns.target.empty() ? table.columns.back() : columns.target;
  TargetTable result;
  result.source = table.source;
  result.in_memory = table.in_memory;
  std::vector<MatrixXd> parts;
  const std::vector<std::string> features = features_of(table, columns, target);
  const std::vector<Index> places = columns_of(table, features);
  for (std::size_t i = 0; i < features.size(); ++i) {
    ColumnCoding coding =
        like != nullptr
            ? like->codings[i]
            : coding_of(table, places[i], choice_for(features[i], columns, csv.adjustable));
    parts.push_back(coded(coding, table, places[i]));
    for (std::string& name : names_of(coding)) {
      result.names.push_back(std::move(name));
      result.indicator.push_back(coding.kind == ColumnKind::category);
    }
    result.codings.push_back(std::move(coding));
  }
  const Index last = column_of(table, target);
  const std::vector<std::string> known =
      like != nullptr ? like->labels : std::vector<std::string>();
  parts.push_back(target_of(table, last, columns, known, csv.adjustable));
  if (!columns.positive.empty()) {
    result.labels = table.texts[static_cast<std::size_t>(last)].levels;
  }
  result.names.push_back(target);
  result.indicator.push_back(false);
  require_distinct(result.names, table.source);
  assemble(result, parts);
  result.lines = std::move(table.lines);
  result.dropped = table.dropped;
  result.ids = std::move(table.ids);
  return result;
}

TargetTable read(const std::string& path, const TargetColumns& columns, TableFile file,
                 const CsvOptions& csv, const TargetTable* like) {
  require_apart(columns, table_source(path));
  const std::string bytes = read_table_file(path);
  TargetTable result = code(parse_table(bytes, path, columns, file, csv), columns, csv, like);
  result.checksum = sha256(bytes);
  return result;
}

}  // namespace

TargetTable read_target_table(const std::string& path, const TargetColumns& columns, TableFile file,
                              const CsvOptions& csv) {
  return read(path, columns, file, csv, nullptr);
}

TargetTable target_table_of(const MemoryTable& memory, const std::string& source,
                            const TargetColumns& columns, const CsvOptions& csv) {
  require_apart(columns, source);
  return code(read_memory(memory, source, csv_options_for(columns, csv)), columns, csv, nullptr);
}

TargetTable read_target_table_like(const std::string& path, const TargetTable& like,
                                   const TargetColumns& columns, TableFile file,
                                   const CsvOptions& csv) {
  TargetColumns same;
  same.target = like.target();
  same.positive = columns.positive;
  same.references = columns.references;
  for (const ColumnCoding& coding : like.codings) {
    same.features.push_back(coding.column);
    const auto& named = columns.categorical;
    if (std::find(named.begin(), named.end(), coding.column) != named.end()) {
      same.categorical.push_back(coding.column);
    }
  }
  return read(path, same, file, csv, &like);
}

Where place_of(const TargetTable& table, Index row) {
  return table.lines.empty()
             ? Where::in(table.source)
             : place_of_line(table.source, table.lines[static_cast<std::size_t>(row)], 0,
                             table.in_memory);
}

}  // namespace sfumato
