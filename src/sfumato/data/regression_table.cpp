#include "sfumato/data/regression_table.hpp"

#include <fmt/format.h>

#include <Eigen/Core>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/core/suggest.hpp"
#include "sfumato/data/csv.hpp"
#include "sfumato/data/labelled_set.hpp"
#include "sfumato/data/target_table.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// x -> (x - centre) / scale, one of each per column of a table (features, then target).
struct Rescaling {
  Eigen::VectorXd centre;
  Eigen::VectorXd scale;

  /// Whether it leaves that column as it is.
  [[nodiscard]] bool keeps(Eigen::Index column) const {
    return centre(column) == 0.0 && scale(column) == 1.0;
  }
  void keep(Eigen::Index column) {
    centre(column) = 0.0;
    scale(column) = 1.0;
  }
};

double constant(const std::vector<double>& values, Index column, double otherwise) {
  const auto at = static_cast<std::size_t>(column);
  return at < values.size() ? values[at] : otherwise;
}

void require_count(const char* key, const std::vector<double>& values, Index features) {
  const auto count = static_cast<Index>(values.size());
  if (count == 0 || count == features || count == features + 1) return;
  throw InvalidArgument(
      fmt::format("`{}` has {} numbers, the table {} features", key, count, features),
      "Give one per feature, in the order of the columns, and one more to scale ridge's targets");
}

/// Mean and deviation (by N) of each column; a constant one is centred alone.
Rescaling own_moments(const MatrixXd& values) {
  Rescaling rescaling;
  rescaling.centre = values.colwise().mean().transpose();
  const MatrixXd centred = values.rowwise() - rescaling.centre.transpose();
  rescaling.scale =
      (centred.colwise().squaredNorm() / static_cast<double>(values.rows())).cwiseSqrt();
  for (double& scale : rescaling.scale) {
    if (scale == 0.0) scale = 1.0;  // a constant column becomes zero
  }
  return rescaling;
}

/// The two rows of a file, centres and scales, under the names of columns. Columns that it has not are kept.
/// Throws   InvalidArgument with the file for another number of rows, a scale that is not positive, or, if
///          `all` columns of the table are used, for a name that none of them has.
Rescaling read_rescaling(const std::string& path, const std::vector<std::string>& names, bool all,
                         const CsvOptions& csv) {
  const DataTable constants = read_csv(path, csv);
  if (constants.values.rows() != 2) {
    throw InvalidArgument(fmt::format("has {} rows of numbers", constants.values.rows()),
                          "Give two rows under the column names: centres, then scales",
                          Where::in(path));
  }
  const auto count = static_cast<Index>(names.size());
  Rescaling rescaling{VectorXd::Zero(count), VectorXd::Ones(count)};
  std::unordered_map<std::string_view, Index> places;
  for (const std::string& name : names) places.emplace(name, std::ssize(places));
  for (Index from = 0; from < std::ssize(constants.columns); ++from) {
    const std::string& column = constants.columns[static_cast<std::size_t>(from)];
    const auto found = places.find(column);
    if (found == places.end()) {
      if (!all) continue;  // constants of a column that is not used
      throw InvalidArgument(fmt::format("\"{}\" is neither the target nor a feature", column),
                            suggestion(column, names, "columns"), Where::in(path));
    }
    const Index to = found->second;
    rescaling.centre(to) = constants.values(0, from);
    rescaling.scale(to) = constants.values(1, from);
    if (!(rescaling.scale(to) > 0.0)) {
      throw InvalidArgument(
          fmt::format("the scale of \"{}\" is {}, not positive", column, rescaling.scale(to)),
          "Scales are in the second row", Where::at(path, constants.lines[1]));
    }
  }
  return rescaling;
}

MatrixXd rescaled(const MatrixXd& values, const Rescaling& rescaling) {
  return (values.rowwise() - rescaling.centre.transpose()) *
         rescaling.scale.cwiseInverse().asDiagonal();
}

/// (value / divisor - mean) / deviation; the last column, the target, has no divisor, and constants of its own
/// where one more than the features is given.
/// Throws   InvalidArgument if numbers of constants do not fit, or a divisor or deviation is not positive.
MatrixXd rescaled(MatrixXd values, const Standardisation& constants) {
  const Index features = values.cols() - 1;
  require_count("means", constants.means, features);
  require_count("deviations", constants.deviations, features);
  if (!(std::isfinite(constants.divisor) && constants.divisor > 0.0)) {
    throw InvalidArgument(
        fmt::format("`divisor` = {} is not a finite positive number", constants.divisor),
        "Give one");
  }
  for (Index column = 0; column <= features; ++column) {
    const double deviation = constant(constants.deviations, column, 1.0);
    if (!(std::isfinite(deviation) && deviation > 0.0)) {
      throw InvalidArgument(
          fmt::format("the deviation {} is not a finite positive number", deviation),
          "Give positive ones");
    }
    const double divisor = column < features ? constants.divisor : 1.0;
    const double mean = constant(constants.means, column, 0.0);
    values.col(column) = ((values.col(column).array() / divisor - mean) / deviation).matrix();
  }
  return values;
}

void require_labels(const TargetTable& table, Index classes) {
  const auto labels = table.values.col(table.values.cols() - 1);
  for (Index row = 0; row < labels.size(); ++row) {
    const double label = labels(row);
    if (label >= 0.0 && label < static_cast<double>(classes) && label == std::floor(label)) {
      continue;
    }
    throw InvalidArgument(
        fmt::format("the label in column \"{}\" is {}", table.target(),
                    classes == 2 ? "neither 0 nor 1"
                                 : fmt::format("not one of 0, 1, ..., {}", classes - 1)),
        fmt::format("Code the classes as whole numbers from 0 to {}, or use the model ridge for a "
                    "quantity",
                    classes - 1),
        place_of(table, row));
  }
}

/// How a table's columns become those of the regression; a label stays as it is.
class Standardiser {
 public:
  Standardiser(const RegressionColumns& columns, const TargetTable& table, const CsvOptions& csv)
      : columns_(columns), features_(table.values.cols() - 1) {
    const Index count = table.values.cols();
    if (columns.constants) return;
    if (columns.standardise.empty()) {
      rescaling_ = {Eigen::VectorXd::Zero(count), Eigen::VectorXd::Ones(count)};
    } else if (columns.standardise == "self") {
      rescaling_ = own_moments(table.values);
      for (Index column = 0; column < count; ++column) {
        if (table.indicator[static_cast<std::size_t>(column)]) rescaling_.keep(column);
      }
    } else {
      rescaling_ = read_rescaling(columns.standardise, table.names, columns.features.empty(), csv);
    }
    if (columns.classes > 0) keep_label(table);
  }

  [[nodiscard]] MatrixXd apply(const MatrixXd& values) const {
    if (!columns_.constants) return rescaled(values, rescaling_);
    MatrixXd result = rescaled(values, *columns_.constants);
    if (columns_.classes > 0)
      result.rightCols(1) = values.rightCols(1);  // constants are for features
    return result;
  }

  /// Columns that stay as they are although others do not; labels are not spoken of.
  [[nodiscard]] std::vector<std::string> kept(const TargetTable& table) const {
    std::vector<std::string> names;
    if (columns_.standardise.empty()) return names;
    const std::size_t count = table.names.size() - (columns_.classes > 0 ? 1 : 0);
    for (std::size_t i = 0; i < count; ++i) {
      if (table.indicator[i]) continue;
      if (rescaling_.keeps(static_cast<Index>(i))) names.push_back(table.names[i]);
    }
    return names;
  }

  /// Units of the table in one of the target as it is used.
  [[nodiscard]] double target_scale() const {
    if (columns_.classes > 0) return 1.0;
    if (!columns_.constants) return rescaling_.scale(rescaling_.scale.size() - 1);
    const MatrixXd step =
        apply(MatrixXd::Ones(1, features_ + 1)) - apply(MatrixXd::Zero(1, features_ + 1));
    return 1.0 / step(0, features_);
  }

 private:
  /// A file of constants must not say otherwise.
  void keep_label(const TargetTable& table) {
    const Index target = table.values.cols() - 1;
    if (!rescaling_.keeps(target) && columns_.standardise != "self") {
      throw InvalidArgument(fmt::format("\"{}\" is a label and cannot be rescaled", table.target()),
                            "Leave its column out, or give it centre 0 and scale 1",
                            Where::in(columns_.standardise));
    }
    rescaling_.keep(target);
  }

  const RegressionColumns& columns_;
  Index features_;
  Rescaling rescaling_;
};

/// Spreads of the features that are numbers and vary.
std::optional<SpreadGap> spread_of(const TargetTable& table) {
  const VectorXd deviation = own_moments(table.values).scale;
  std::optional<Index> widest, narrowest;
  for (Index column = 0; column + 1 < table.values.cols(); ++column) {
    const auto values = table.values.col(column);
    if (table.indicator[static_cast<std::size_t>(column)] ||
        values.minCoeff() == values.maxCoeff()) {
      continue;
    }
    if (!widest || deviation(column) > deviation(*widest)) widest = column;
    if (!narrowest || deviation(column) < deviation(*narrowest)) narrowest = column;
  }
  if (!widest || *widest == *narrowest) return std::nullopt;
  const auto name = [&](Index column) { return table.names[static_cast<std::size_t>(column)]; };
  return SpreadGap{name(*widest), name(*narrowest), deviation(*widest) / deviation(*narrowest)};
}

/// Splits off the target and appends the intercept.
MatrixXd features_of(const MatrixXd& values, bool intercept) {
  MatrixXd features(values.rows(), values.cols() - 1 + (intercept ? 1 : 0));
  features.leftCols(values.cols() - 1) = values.leftCols(values.cols() - 1);
  if (intercept) features.col(features.cols() - 1).setOnes();
  return features;
}

}  // namespace

RegressionInput read_regression(const std::string& path, const RegressionColumns& columns,
                                const CsvOptions& csv, const std::string& with_file,
                                const MemoryTable* memory) {
  TargetTable table = memory != nullptr ? target_table_of(*memory, path, columns, csv)
                                        : read_target_table(path, columns, columns.file, csv);
  if (table.names.size() == 1 && !columns.intercept) {
    throw InvalidArgument("no feature is left", "Name other columns or keep the intercept",
                          Where::in(table.source));
  }
  if (columns.classes > 0) require_labels(table, columns.classes);
  const Standardiser standardiser(columns, table, csv);
  const MatrixXd values = standardiser.apply(table.values);
  RegressionInput input;
  input.features = features_of(values, columns.intercept);
  input.target = values.rightCols(1);
  input.not_rescaled = standardiser.kept(table);
  input.parameters.assign(table.names.begin(), table.names.end() - 1);
  if (columns.intercept) input.parameters.emplace_back("(intercept)");
  if (!with_file.empty()) {
    // A record of the same columns, whatever else its file holds.
    const TargetTable other = read_target_table_like(with_file, table, columns, columns.file, csv);
    if (other.values.rows() != 1) {
      throw InvalidArgument(fmt::format("has {} records", other.values.rows()),
                            "Give the one record that replaces each row, under column names",
                            Where::in(with_file));
    }
    if (columns.classes > 0) require_labels(other, columns.classes);
    const MatrixXd record = standardiser.apply(other.values);
    input.replacement = Record{features_of(record, columns.intercept).row(0).transpose(),
                               record(0, record.cols() - 1)};
  }
  input.target_scale = standardiser.target_scale();
  if (columns.standardise.empty() && !columns.constants) input.spread = spread_of(table);
  input.codings = std::move(table.codings);
  input.lines = std::move(table.lines);
  input.ids = std::move(table.ids);
  input.dropped = table.dropped;
  input.checksum = std::move(table.checksum);
  return input;
}

}  // namespace sfumato
