#include "sfumato/fit/bounded_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "sfumato/core/error.hpp"
#include "sfumato/core/overloaded.hpp"
#include "sfumato/core/suggest.hpp"
#include "sfumato/data/table.hpp"
#include "sfumato/data/text.hpp"

namespace sfumato {

using Eigen::Index;

namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

std::vector<std::string> head_of(CsvRecords& records) {
  const std::string& source = records.source();
  if (!records.next() || records.blank()) {
    throw InvalidArgument("is empty", "Give a CSV file with a header row", Where::in(source));
  }
  std::vector<std::string> head;
  for (const CsvField& field : records.fields()) {
    // A first row of numbers is a record: its cells must not be shown.
    if (parse_number(field.text).status == NumberStatus::ok && !field.quoted) {
      throw InvalidArgument("the first row holds a number where the name of a column belongs",
                            "Add a header row (a name that is a number goes in quotes)",
                            records.place());
    }
    head.emplace_back(field.text);
  }
  return head;
}

std::size_t position_of(const std::string& column, const std::vector<std::string>& head,
                        const std::string& source) {
  const auto found = std::find(head.begin(), head.end(), column);
  if (found == head.end()) {
    throw InvalidArgument(fmt::format("has no column {}", shown(column)),
                          suggestion(column, head, "columns"), Where::in(source));
  }
  return static_cast<std::size_t>(found - head.begin());
}

/// Where a declared column stands in the file, and how its texts become numbers.
class ColumnReader {
 public:
  ColumnReader(const FeatureColumn& column, std::size_t field, Index first)
      : column_(column), field_(field), first_(first) {
    if (const auto* category = std::get_if<CategoryColumn>(&column_)) {
      for (std::size_t i = 0; i < category->levels.size(); ++i) {
        levels_.emplace(category->levels[i], static_cast<Index>(i));
      }
    }
  }

  /// False where the record lacks a value and is to be dropped.
  bool read(CsvRecords& records, double* row) const {
    if (const auto* numeric = std::get_if<NumericColumn>(&column_)) {
      row[first_] = number(*numeric, records);
      return !std::isnan(row[first_]) || fill(numeric->missing, row);
    }
    const auto found = levels_.find(std::string(records.text(field_)));
    if (found != levels_.end()) {
      set_level(found->second, row);
    } else if (is_missing(records.fields()[field_])) {
      return fill(std::get<CategoryColumn>(column_).missing, row);
    }
    return true;
  }

 private:
  void set_level(Index level, double* row) const {
    if (level > 0) row[first_ + level - 1] = 1.0;
  }
  void say_missing(double* row) const { row[first_ + width_of(column_) - 1] = 1.0; }

  bool fill(const MissingNumber& rule, double* row) const {
    return std::visit(Overloaded{[](DropRecord) { return false; },
                                 [](MiddleOfRange) { return true; },  // NaN, until there is a range
                                 [&](MissingIndicator) { return say_missing(row), true; },
                                 [&](FillNumber fill) { return row[first_] = fill.value, true; }},
                      rule);
  }
  bool fill(const MissingLevel& rule, double* row) const {
    return std::visit(Overloaded{[](DropRecord) { return false; },
                                 [&](MissingIndicator) { return say_missing(row), true; },
                                 [&](const FillLevel& fill) {
                                   return set_level(levels_.at(fill.level), row), true;
                                 }},
                      rule);
  }

  double number(const NumericColumn& column, const CsvRecords& records) const {
    const CsvField& field = records.fields()[field_];
    if (is_missing(field)) return kMissing;
    const ParsedNumber parsed = number_of(field);
    if (parsed.status == NumberStatus::not_a_number) {
      throw InvalidArgument(
          fmt::format("the cell in column {} is not a number", shown(column.name)),
          "Declare the column as a category, or mend the table", records.place(field_ + 1));
    }
    return parsed.status == NumberStatus::out_of_range ? kMissing : parsed.value;
  }

  const FeatureColumn& column_;
  std::size_t field_;
  Index first_;
  std::unordered_map<std::string, Index> levels_;
};

/// The target of a record as it stands there; NaN for none.
double target_of(CsvRecords& records, std::size_t field, const PublicTable& table, FitModel model) {
  if (model != FitModel::ridge) {
    const auto found = std::find(table.classes.begin(), table.classes.end(), records.text(field));
    return found == table.classes.end() ? kMissing
                                        : static_cast<double>(found - table.classes.begin());
  }
  if (is_missing(records.fields()[field])) return kMissing;
  const ParsedNumber parsed = number_of(records.fields()[field]);
  if (parsed.status == NumberStatus::not_a_number) {
    throw InvalidArgument(
        fmt::format("the cell in the target {} is not a number", shown(table.target)),
        "A class needs the `model` logistic or softmax", records.place(field + 1));
  }
  return parsed.status == NumberStatus::out_of_range ? kMissing : parsed.value;
}

/// Rows longer than the bound are scaled down, a quantity with them: a linear model stays right (Spec §22.1).
void shorten(double bound, FitModel model, Eigen::Ref<Eigen::RowVectorXd> row, double* target) {
  const double norm = row.norm();
  if (norm <= bound) return;
  const double weight = bound / norm * (1.0 - 1e-12);
  row *= weight;
  if (model == FitModel::ridge) *target *= weight;
}

/// A numeric column among the features, and the range that becomes [-1, 1].
struct ScaledColumn {
  Index at;
  double middle, half;
};

std::vector<ScaledColumn> scaled_columns(const PublicTable& table) {
  std::vector<ScaledColumn> columns;
  Index at = 0;
  for (const FeatureColumn& column : table.features) {
    if (const auto* numeric = std::get_if<NumericColumn>(&column)) {
      columns.push_back(
          {at, 0.5 * numeric->low + 0.5 * numeric->high, 0.5 * numeric->high - 0.5 * numeric->low});
    }
    at += width_of(column);
  }
  return columns;
}

/// Whether a missing number can be left in the middle of its range.
bool can_be_filled(const PublicTable& table) {
  return std::any_of(table.features.begin(), table.features.end(), [](const auto& column) {
    const auto* numeric = std::get_if<NumericColumn>(&column);
    return numeric != nullptr && (std::holds_alternative<MiddleOfRange>(numeric->missing) ||
                                  std::holds_alternative<MissingIndicator>(numeric->missing));
  });
}

}  // namespace

bool is_missing(const CsvField& field) {
  if (field.is_number) return false;
  static constexpr std::string_view kWords[] = {"",   "?",   "NA",   "N/A",  "NaN", "nan", "null",
                                                "na", "n/a", "NULL", "Null", "inf", "-inf"};
  return std::find(std::begin(kWords), std::end(kWords), field.text) != std::end(kWords);
}

std::vector<std::string> csv_head(const std::string& path) {
  const TableInput input(path);
  CsvRecords records = input.records();
  return head_of(records);
}

ReadRows read_rows(CsvRecords records, const PublicTable& table, FitModel model) {
  require_public(table, model);
  const std::string& source = records.source();
  const std::vector<std::string> head = head_of(records);
  std::vector<ColumnReader> readers;
  Index first = 0;
  for (const FeatureColumn& column : table.features) {
    readers.emplace_back(column, position_of(name(column), head, source), first);
    first += width_of(column);
  }
  const std::size_t target_field = position_of(table.target, head, source);
  const Index dim = table.dim();
  std::vector<double> features, targets;
  while (records.next()) {
    if (records.blank()) continue;
    if (records.fields().size() != head.size()) {
      throw InvalidArgument(
          fmt::format("{} fields, and the header has {}", records.fields().size(), head.size()),
          "Mend the row, or put texts with commas in quotes", records.place());
    }
    if (targets.size() == table.rows) {
      throw InvalidArgument(fmt::format("more than the {} records that were declared", table.rows),
                            "Declare a bound that holds for every table; rows are never dropped",
                            records.place());
    }
    const std::size_t begin = features.size();
    features.resize(begin + static_cast<std::size_t>(dim), 0.0);
    double* row = features.data() + begin;
    // Every cell is read, also of a record that is dropped: whether a table is refused depends on its form alone.
    bool kept = true;
    for (const ColumnReader& reader : readers) kept = reader.read(records, row) && kept;
    if (table.intercept) row[dim - 1] = 1.0;
    const double target = target_of(records, target_field, table, model);
    targets.push_back(kept ? target : kMissing);
  }
  const auto rows = static_cast<Index>(targets.size());
  return {Eigen::Map<const RowMajor>(features.data(), rows, dim),
          Eigen::Map<const Eigen::VectorXd>(targets.data(), rows)};
}

BoundedRows bounded_rows(const ReadRows& rows, const PublicTable& table, FitModel model) {
  require_public(table, model);
  const std::vector<ScaledColumn> scaled = scaled_columns(table);
  const double longest = table.bound();
  const double most = table.target_reach.value_or(table.target_bound());
  const double middle = 0.5 * table.target_low + 0.5 * table.target_high;
  const bool quantity = model == FitModel::ridge;
  BoundedRows bounded{rows.features, rows.target};
  if (can_be_filled(table)) bounded.filled.setZero(rows.features.rows(), rows.features.cols());
  for (Index i = 0; i < bounded.features.rows(); ++i) {
    auto row = bounded.features.row(i);
    double& target = bounded.target(i);
    if (std::isnan(target)) {
      row.setZero();
      target = quantity ? 0.0 : -1.0;
      continue;
    }
    for (const ScaledColumn& column : scaled) {
      const bool missing = std::isnan(row(column.at));
      const double x = missing ? 0.0 : (row(column.at) - column.middle) / column.half;
      row(column.at) = std::clamp(x, -1.0, 1.0);
      if (missing) bounded.filled(i, column.at) = true;
    }
    if (quantity) target = std::clamp(target - middle, -most, most);
    shorten(longest, model, row, &target);
  }
  return bounded;
}

}  // namespace sfumato
