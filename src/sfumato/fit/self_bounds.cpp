#include "sfumato/fit/self_bounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sfumato/core/error.hpp"
#include "sfumato/core/suggest.hpp"
#include "sfumato/data/text.hpp"
#include "sfumato/fit/bounded_rows.hpp"

namespace sfumato {
namespace {

/// A column as it is found.
struct SeenColumn {
  std::string name;
  bool numeric = true;
  double low = 0.0, high = 0.0;
  bool any = false;
  std::set<std::string> levels;
};

constexpr std::size_t kMostLevels = 200;

void look(CsvRecords& records, std::size_t field, SeenColumn* column) {
  if (is_missing(records.fields()[field])) return;  // no level, no class and no number
  if (column->levels.size() <= kMostLevels) column->levels.emplace(records.text(field));
  const ParsedNumber parsed = number_of(records.fields()[field]);
  if (parsed.status == NumberStatus::out_of_range) return;
  if (parsed.status != NumberStatus::ok) {
    column->numeric = false;
    return;
  }
  column->low = column->any ? std::min(column->low, parsed.value) : parsed.value;
  column->high = column->any ? std::max(column->high, parsed.value) : parsed.value;
  column->any = true;
}

}  // namespace

PublicTable bounds_of_table(const FitQuestion& question, CsvRecords records) {
  const std::string& source = records.source();
  if (!records.next()) {
    throw InvalidArgument("is empty", "Give a CSV file with a header row", Where::in(source));
  }
  std::vector<SeenColumn> columns;
  std::vector<std::string> names;
  for (const CsvField& field : records.fields()) {
    names.emplace_back(field.text);
    columns.push_back({names.back(), true, 0.0, 0.0, false, {}});
  }
  const MissingNumber missing = parse_missing(question.missing, Where::key("missing"));
  PublicTable table;
  while (records.next()) {
    if (records.blank()) continue;
    ++table.rows;
    for (std::size_t i = 0; i < std::min(columns.size(), records.fields().size()); ++i) {
      look(records, i, &columns[i]);
    }
  }
  table.target = question.target.empty() ? names.back() : question.target;
  if (std::find(names.begin(), names.end(), table.target) == names.end()) {
    throw InvalidArgument(fmt::format("has no column {}", shown(table.target)),
                          suggestion(table.target, names, "columns"), Where::in(source));
  }
  for (const SeenColumn& column : columns) {
    const std::vector<std::string> levels(column.levels.begin(), column.levels.end());
    if (column.name == table.target) {
      table.target_low = column.low, table.target_high = column.high;
      if (question.model != FitModel::ridge) table.classes = levels;
    } else if (column.numeric) {
      if (column.low < column.high) {
        table.features.emplace_back(NumericColumn{column.name, column.low, column.high, missing});
      }
    } else if (levels.size() > 1 && levels.size() <= kMostLevels) {
      table.features.emplace_back(CategoryColumn{column.name, levels, of_categories(missing)});
    }
  }
  return table;
}

}  // namespace sfumato
