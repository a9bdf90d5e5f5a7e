#include "sfumato/fit/bounded_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "sfumato/core/error.hpp"
#include "sfumato/core/suggest.hpp"
#include "sfumato/data/table_file.hpp"
#include "sfumato/data/text.hpp"

namespace sfumato {

using Eigen::Index;

namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

bool is_missing(const CsvField& field) {
  if (field.is_number) return false;
  static constexpr std::string_view kWords[] = {"",   "?",   "NA",   "N/A",  "NaN", "nan", "null",
                                                "na", "n/a", "NULL", "Null", "inf", "-inf"};
  return std::find(std::begin(kWords), std::end(kWords), field.text) != std::end(kWords);
}

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
                            Where::at(source, records.line()));
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

  void read(CsvRecords& records, double* row) const {
    if (const auto* numeric = std::get_if<NumericColumn>(&column_)) {
      row[first_] = number(*numeric, records);
      return;
    }
    const auto found = levels_.find(std::string(records.text(field_)));
    if (found != levels_.end() && found->second > 0) row[first_ + found->second - 1] = 1.0;
  }

 private:
  double number(const NumericColumn& column, const CsvRecords& records) const {
    const CsvField& field = records.fields()[field_];
    if (is_missing(field)) return kMissing;
    const ParsedNumber parsed = number_of(field);
    if (parsed.status == NumberStatus::not_a_number) {
      throw InvalidArgument(
          fmt::format("the cell in column {} is not a number", shown(column.name)),
          "Declare the column as a category, or mend the table",
          Where::at(records.source(), records.line(), field_ + 1));
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
        "A class needs the `model` logistic or softmax",
        Where::at(records.source(), records.line(), field + 1));
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
      columns.push_back({at++, 0.5 * numeric->low + 0.5 * numeric->high,
                         0.5 * numeric->high - 0.5 * numeric->low});
    } else {
      at += static_cast<Index>(std::get<CategoryColumn>(column).levels.size()) - 1;
    }
  }
  return columns;
}

}  // namespace

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
    const bool numeric = std::holds_alternative<NumericColumn>(column);
    const std::string& name =
        numeric ? std::get<NumericColumn>(column).name : std::get<CategoryColumn>(column).name;
    readers.emplace_back(column, position_of(name, head, source), first);
    first += numeric ? 1 : static_cast<Index>(std::get<CategoryColumn>(column).levels.size()) - 1;
  }
  const std::size_t target_field = position_of(table.target, head, source);
  const Index dim = table.dim();
  std::vector<double> features, targets;
  while (records.next()) {
    if (records.blank()) continue;
    if (records.fields().size() != head.size()) {
      throw InvalidArgument(
          fmt::format("{} fields, and the header has {}", records.fields().size(), head.size()),
          "Mend the row, or put texts with commas in quotes", Where::at(source, records.line()));
    }
    if (targets.size() == table.rows) {
      throw InvalidArgument(fmt::format("more than the {} records that were declared", table.rows),
                            "Declare a bound that holds for every table; rows are never dropped",
                            Where::at(source, records.line()));
    }
    const std::size_t begin = features.size();
    features.resize(begin + static_cast<std::size_t>(dim), 0.0);
    double* row = features.data() + begin;
    for (const ColumnReader& reader : readers) reader.read(records, row);
    if (table.intercept) row[dim - 1] = 1.0;
    targets.push_back(target_of(records, target_field, table, model));
  }
  const auto rows = static_cast<Index>(targets.size());
  return {Eigen::Map<const RowMajor>(features.data(), rows, dim),
          Eigen::Map<const Eigen::VectorXd>(targets.data(), rows)};
}

BoundedRows bounded_rows(const ReadRows& rows, const PublicTable& table, FitModel model) {
  require_public(table, model);
  const std::vector<ScaledColumn> scaled = scaled_columns(table);
  const double longest = table.bound(), most = table.target_bound();
  const double middle = 0.5 * table.target_low + 0.5 * table.target_high;
  const bool quantity = model == FitModel::ridge;
  BoundedRows bounded{rows.features, rows.target};
  for (Index i = 0; i < bounded.features.rows(); ++i) {
    auto row = bounded.features.row(i);
    double& target = bounded.target(i);
    if (std::isnan(target)) {
      row.setZero();
      target = quantity ? 0.0 : -1.0;
      continue;
    }
    for (const ScaledColumn& column : scaled) {
      const double x = (row(column.at) - column.middle) / column.half;
      row(column.at) = std::isfinite(x) ? std::clamp(x, -1.0, 1.0) : 0.0;
    }
    if (quantity) target = std::clamp(target - middle, -most, most);
    shorten(longest, model, row, &target);
  }
  return bounded;
}

}  // namespace sfumato
