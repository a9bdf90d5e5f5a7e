#include "sfumato/fit/public_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "sfumato/core/error.hpp"
#include "sfumato/core/overloaded.hpp"
#include "sfumato/core/suggest.hpp"
#include "sfumato/data/csv_records.hpp"
#include "sfumato/data/file_input.hpp"
#include "sfumato/data/text.hpp"
#include "sfumato/fit/sensitivity.hpp"

namespace sfumato {

using Eigen::Index;

std::string_view name(FitModel model) {
  switch (model) {
    case FitModel::ridge: return "ridge";
    case FitModel::logistic: return "logistic";
    case FitModel::softmax: return "softmax";
  }
  throw InternalError("a model without a name");
}

namespace {

constexpr const char* kMissingFeature = "(missing)";
constexpr std::string_view kValue = "value:";
/// Ends of ranges are no larger, and no nearer to each other than the second number: fourth powers of the target's range times squares of the number of rows are computed (Spec §22.8), and
/// all of these stay far from the ends of doubles.
constexpr double kWidest = 1e60, kNarrowest = 1e-60;

void require_levels(const std::string& column, const std::vector<std::string>& levels,
                    std::size_t least) {
  if (levels.size() < least) {
    throw InvalidArgument(fmt::format("column {} has {} level(s), {} are needed", shown(column),
                                      levels.size(), least),
                          "Declare them all, separated by |", Where::here("bounds"));
  }
  const std::set<std::string> distinct(levels.begin(), levels.end());
  if (distinct.size() != levels.size()) {
    throw InvalidArgument(fmt::format("column {} has a level twice", shown(column)),
                          "Name each once", Where::here("bounds"));
  }
}

/// Throws unless the squares of all that is computed from this range stay ordinary numbers.
void require_range(const std::string& what, double low, double high, const char* remedy) {
  const bool ordered = std::isfinite(low) && std::isfinite(high) && low < high;
  if (!ordered) {
    throw InvalidArgument(fmt::format("{} has the range {} to {}", what, low, high), remedy,
                          Where::here("bounds"));
  }
  if (std::abs(low) <= kWidest && std::abs(high) <= kWidest && high - low >= kNarrowest) return;
  throw InvalidArgument(
      fmt::format("{} has the range {} to {}, beyond what squares of doubles hold", what, low,
                  high),
      fmt::format("Change its unit: ends of at most {:g} in size, at least {:g} apart", kWidest,
                  kNarrowest),
      Where::here("bounds"));
}

void require_missing(const NumericColumn& column) {
  const auto* fill = std::get_if<FillNumber>(&column.missing);
  if (fill == nullptr || (fill->value >= column.low && fill->value <= column.high)) return;
  throw InvalidArgument(
      fmt::format("missing values of column {} would be {}, outside its range {} to {}",
                  shown(column.name), fill->value, column.low, column.high),
      "Choose a value within the range, or one for each column, under missing in the bounds",
      Where::here("bounds"));
}

void require_missing(const CategoryColumn& column) {
  const auto* fill = std::get_if<FillLevel>(&column.missing);
  const auto declared = [&](const std::string& level) {
    return std::find(column.levels.begin(), column.levels.end(), level) != column.levels.end();
  };
  if (fill != nullptr && !declared(fill->level)) {
    throw InvalidArgument(
        fmt::format("missing values of column {} would be {}, which is none of its levels",
                    shown(column.name), shown(fill->level)),
        "Declare the level, or name another", Where::here("bounds"));
  }
  if (std::holds_alternative<MissingIndicator>(column.missing) && declared(kMissingFeature)) {
    throw InvalidArgument(fmt::format("column {} has a level (missing), which is also the name of "
                                      "the feature for missing values",
                                      shown(column.name)),
                          "Name the level otherwise", Where::here("bounds"));
  }
}

}  // namespace

std::string name(const MissingNumber& rule) {
  return std::visit(Overloaded{[](DropRecord) -> std::string { return "drop"; },
                               [](MiddleOfRange) -> std::string { return "middle"; },
                               [](MissingIndicator) -> std::string { return "indicator"; },
                               [](FillNumber fill) { return fmt::format("value:{}", fill.value); }},
                    rule);
}

std::string name(const MissingLevel& rule) {
  return std::visit(
      Overloaded{[](DropRecord) -> std::string { return "drop"; },
                 [](MissingIndicator) -> std::string { return "indicator"; },
                 [](const FillLevel& fill) { return fmt::format("value:{}", fill.level); }},
      rule);
}

MissingNumber parse_missing(const std::string& text, const Where& where) {
  if (text == "drop") return DropRecord{};
  if (text == "middle") return MiddleOfRange{};
  if (text == "indicator") return MissingIndicator{};
  if (text.starts_with(kValue)) {
    const ParsedNumber parsed = parse_number(text.substr(kValue.size()));
    if (parsed.status == NumberStatus::ok) return FillNumber{parsed.value + 0.0};  // -0 is 0
    throw InvalidArgument(fmt::format("{} names no finite number", shown(text)), "Write value:40",
                          where);
  }
  throw InvalidArgument(fmt::format("{} is no rule for missing values", shown(text)),
                        suggestion(text, {"drop", "middle", "indicator", "value:X"}, "values"),
                        where);
}

MissingLevel of_categories(const MissingNumber& rule) {
  if (std::holds_alternative<MissingIndicator>(rule)) return MissingIndicator{};
  return DropRecord{};
}

const std::string& name(const FeatureColumn& column) {
  return std::visit([](const auto& one) -> const std::string& { return one.name; }, column);
}

bool has_indicator(const FeatureColumn& column) {
  return std::visit(
      [](const auto& one) { return std::holds_alternative<MissingIndicator>(one.missing); },
      column);
}

Index width_of(const FeatureColumn& column) {
  const auto* category = std::get_if<CategoryColumn>(&column);
  const Index values = category == nullptr ? 1 : static_cast<Index>(category->levels.size()) - 1;
  return values + (has_indicator(column) ? 1 : 0);
}

Index PublicTable::dim() const {
  Index width = intercept ? 1 : 0;
  for (const FeatureColumn& column : features) width += width_of(column);
  return width;
}

std::vector<std::string> PublicTable::parameters() const {
  std::vector<std::string> names;
  for (const FeatureColumn& column : features) {
    std::visit(Overloaded{[&](const NumericColumn& one) { names.push_back(one.name); },
                          [&](const CategoryColumn& one) {
                            for (std::size_t i = 1; i < one.levels.size(); ++i) {
                              names.push_back(one.name + "=" + one.levels[i]);
                            }
                          }},
               column);
    if (has_indicator(column)) names.push_back(name(column) + "=" + kMissingFeature);
  }
  if (intercept) names.emplace_back("intercept");
  return names;
}

double PublicTable::bound() const {
  if (row_norm) return *row_norm;
  // A further feature for missing values is 1 only where the others of its column are 0: no row gets longer (Spec §22.1).
  double numeric = 0.0;
  std::vector<double> groups;
  for (const FeatureColumn& column : features) {
    if (std::holds_alternative<NumericColumn>(column)) {
      ++numeric;
    } else {
      groups.push_back(1.0);
    }
  }
  return longest_row(numeric, groups, intercept ? 1.0 : 0.0);
}

namespace {

/// Levels and missing values have features of their own, "column=level": a numeric column may have that name.
void require_own_names(const PublicTable& table) {
  std::set<std::string> names;
  for (const std::string& feature : table.parameters()) {
    if (names.insert(feature).second) continue;
    throw InvalidArgument(fmt::format("two features would be called {}", shown(feature)),
                          "Rename the column of that name, or the level", Where::here("bounds"));
  }
}

}  // namespace

void require_public(const PublicTable& table, FitModel model) {
  std::set<std::string> names{table.target};
  if (table.target.empty()) {
    throw InvalidArgument("no column is declared as the target", "Give its kind: target",
                          Where::here("bounds"));
  }
  for (const FeatureColumn& column : table.features) {
    if (!names.insert(name(column)).second) {
      throw InvalidArgument(fmt::format("column {} is declared twice", shown(name(column))),
                            "Keep one of them", Where::here("bounds"));
    }
    if (const auto* one = std::get_if<NumericColumn>(&column)) {
      require_range(fmt::format("column {}", shown(one->name)), one->low, one->high,
                    "Declare finite numbers, low < high; leave a constant column out");
      require_missing(*one);
    } else {
      require_levels(name(column), std::get<CategoryColumn>(column).levels, 2);
      require_missing(std::get<CategoryColumn>(column));
    }
  }
  // Indicators and levels become columns of the model, whose names must not meet either.
  require_own_names(table);
  if (table.dim() == 0) {
    throw InvalidArgument("no feature is declared", "Declare some, or keep the intercept",
                          Where::here("bounds"));
  }
  if (model == FitModel::ridge) {
    require_range(fmt::format("the target {}", shown(table.target)), table.target_low,
                  table.target_high, "Declare finite numbers, low < high");
  } else {
    require_levels(table.target, table.classes, 2);
    if (model == FitModel::logistic && table.classes.size() != 2) {
      throw InvalidArgument(
          fmt::format("the target {} has {} classes", shown(table.target), table.classes.size()),
          "A logistic regression has two; use softmax", Where::here("bounds"));
    }
  }
  if (table.rows == 0) {
    throw InvalidArgument("the number of records is not declared",
                          "Give a public bound: no table has more rows", Where::key("records"));
  }
  if (table.row_norm && !(*table.row_norm >= kNarrowest && *table.row_norm <= kWidest)) {
    throw InvalidArgument(
        fmt::format("{} is not a number from {:g} to {:g}", *table.row_norm, kNarrowest, kWidest),
        "Declare the length of a row of features in [-1, 1], or none", Where::key("row_norm"));
  }
}

namespace {

std::vector<std::string> split_levels(std::string_view text) {
  std::vector<std::string> levels;
  while (!text.empty()) {
    const std::size_t bar = text.find('|');
    levels.emplace_back(trimmed(text.substr(0, bar)));
    if (bar == std::string_view::npos) break;
    text.remove_prefix(bar + 1);
  }
  return levels;
}

/// One row of the file, by the names of its head.
class Declaration {
 public:
  Declaration(const std::vector<std::string>& head, const CsvRecords& records, std::string path)
      : path_(std::move(path)), line_(records.line()) {
    if (records.fields().size() != head.size()) {
      throw InvalidArgument(
          fmt::format("{} fields under {} names", records.fields().size(), head.size()),
          "Put commas in quotes, and separate levels by |", where());
    }
    for (std::size_t i = 0; i < head.size(); ++i) {
      fields_.emplace_back(head[i], std::string(records.fields()[i].text));
    }
  }

  [[nodiscard]] std::string text(std::string_view name) const {
    for (const auto& [key, value] : fields_) {
      if (key == name) return value;
    }
    return {};
  }
  [[nodiscard]] double number(std::string_view name) const {
    const std::string given = text(name);
    const ParsedNumber parsed = parse_number(given);
    if (parsed.status != NumberStatus::ok) {
      throw InvalidArgument(fmt::format("`{}` of {} = {} is not a finite number", name,
                                        shown(text("column")), shown(given)),
                            "Declare it from outside knowledge, not from the table", where());
    }
    return parsed.value;
  }
  [[nodiscard]] Where where() const { return Where::at(path_, line_); }

 private:
  std::string path_;
  std::size_t line_;
  std::vector<std::pair<std::string, std::string>> fields_;
};

NeighbouringRelation relation_of(const Declaration& row) {
  const std::string given = row.text("levels");
  std::vector<std::string> names;
  for (const NeighbouringRelation relation :
       {NeighbouringRelation::add_remove, NeighbouringRelation::zero_out,
        NeighbouringRelation::replace_one}) {
    if (given == name(relation)) return relation;
    names.emplace_back(name(relation));
  }
  throw InvalidArgument(fmt::format("the adjacency {} is unknown", shown(given)),
                        suggestion(given, names, "values"), row.where());
}

MissingNumber missing_number(const Declaration& row, const MissingNumber& otherwise) {
  const std::string given = row.text("missing");
  return given.empty() ? otherwise : parse_missing(given, row.where());
}

MissingLevel missing_level(const Declaration& row, const MissingNumber& otherwise) {
  const std::string given = row.text("missing");
  if (given.empty()) return of_categories(otherwise);
  if (given.starts_with(kValue)) return FillLevel{given.substr(kValue.size())};
  if (given == "middle") {
    throw InvalidArgument(
        fmt::format("missing = middle for {}: a category has none", shown(row.text("column"))),
        "Use drop, indicator or value:LEVEL", row.where());
  }
  return of_categories(parse_missing(given, row.where()));
}

void take(const Declaration& row, FitModel model, const MissingNumber& missing, bool* has_relation,
          PublicTable* table) {
  const std::string column = row.text("column"), kind = row.text("kind");
  if (kind != "numeric" && kind != "category" && kind != "ignore" && !row.text("missing").empty()) {
    throw InvalidArgument(
        fmt::format("{} has a rule for missing values: a record without a target contributes "
                    "nothing, and no other row has values",
                    shown(column)),
        "Leave it empty", row.where());
  }
  if (column == "(records)") {
    const double rows = row.number("high");
    if (!(rows >= 1.0 && rows <= 0x1p40 && rows == std::floor(rows))) {
      throw InvalidArgument(fmt::format("(records) = {} is not a number of rows", rows),
                            "Declare a whole number under `high`", row.where());
    }
    table->rows = static_cast<std::uint64_t>(rows);
  } else if (column == "(adjacency)") {
    table->relation = relation_of(row);
    *has_relation = true;
  } else if (kind == "numeric") {
    table->features.emplace_back(
        NumericColumn{column, row.number("low"), row.number("high"), missing_number(row, missing)});
    table->sources.push_back(row.text("source"));
  } else if (kind == "category") {
    table->features.emplace_back(
        CategoryColumn{column, split_levels(row.text("levels")), missing_level(row, missing)});
    table->sources.push_back(row.text("source"));
  } else if (kind == "target") {
    if (!table->target.empty()) {
      throw InvalidArgument(
          fmt::format("{} and {} are both targets", shown(table->target), shown(column)),
          "Declare one", row.where());
    }
    table->target = column;
    if (model == FitModel::ridge) {
      table->target_low = row.number("low");
      table->target_high = row.number("high");
    } else {
      table->classes = split_levels(row.text("levels"));
    }
  } else if (kind != "ignore") {
    throw InvalidArgument(fmt::format("the kind {} of {} is unknown", shown(kind), shown(column)),
                          suggestion(kind, {"numeric", "category", "target", "ignore"}, "kinds"),
                          row.where());
  }
}

}  // namespace

PublicTable read_public_table(const std::string& path, FitModel model,
                              const MissingNumber& missing) {
  const std::string text = read_file(path);
  CsvRecords records(text, path, ',');
  if (!records.next()) {
    throw InvalidArgument("is empty", "Give a file of declarations", Where::in(path));
  }
  std::vector<std::string> head;
  for (const CsvField& field : records.fields()) head.emplace_back(field.text);
  for (const char* needed : {"column", "kind", "low", "high", "levels"}) {
    if (std::find(head.begin(), head.end(), needed) == head.end()) {
      throw InvalidArgument(fmt::format("has no column `{}`", needed),
                            "The head is column,kind,low,high,levels,source,missing",
                            Where::in(path));
    }
  }
  PublicTable table;
  bool has_relation = false;
  while (records.next()) {
    if (records.blank()) continue;
    take(Declaration(head, records, path), model, missing, &has_relation, &table);
  }
  if (!has_relation) {
    throw InvalidArgument("does not say which tables are neighbours",
                          "Add the row (adjacency),,,,add_remove, (or zero_out, replace_one)",
                          Where::in(path));
  }
  return table;
}

std::string describe_missing(const PublicTable& table) {
  std::vector<std::pair<std::string, std::vector<std::string>>> rules;
  for (const FeatureColumn& column : table.features) {
    const std::string rule = std::visit([](const auto& one) { return name(one.missing); }, column);
    auto found = std::find_if(rules.begin(), rules.end(),
                              [&](const auto& known) { return known.first == rule; });
    if (found == rules.end()) found = rules.insert(rules.end(), {rule, {}});
    found->second.push_back(name(column));
  }
  if (rules.empty()) return name(MissingNumber{DropRecord{}});
  if (rules.size() == 1) return rules.front().first;
  std::vector<std::string> parts;
  for (const auto& [rule, columns] : rules) {
    parts.push_back(fmt::format("{} in {}", rule, fmt::join(columns, ", ")));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string public_table_template(const std::vector<std::string>& columns,
                                  const std::string& target) {
  const auto quoted = [](const std::string& text) {
    if (text.find_first_of(",\"\n") == std::string::npos) return text;
    std::string doubled;
    for (const char c : text) doubled += c == '"' ? "\"\"" : std::string(1, c);
    return "\"" + doubled + "\"";
  };
  std::string text = "column,kind,low,high,levels,missing,source\n";
  for (const std::string& column : columns) {
    const char* kind = column == target ? "target" : "numeric";
    text += fmt::format("{},{},,,,,\n", quoted(column), kind);
  }
  return text + "(records),,,,,,\n(adjacency),,,,add_remove,,\n";
}

}  // namespace sfumato
