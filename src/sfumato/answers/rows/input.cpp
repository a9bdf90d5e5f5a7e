#include "sfumato/answers/rows/input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <unordered_map>
#include <unordered_set>

#include "sfumato/core/error.hpp"
#include "sfumato/core/suggest.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

/// x -> (x - centre) / scale, one of each per column of the selection (features, then target).
struct Rescaling {
  VectorXd centre;
  VectorXd scale;
};

std::vector<std::string> selection_of(const DataTable& table, const RegressionColumns& columns) {
  std::vector<std::string> selection = columns.features;
  (void)column_of(table, columns.target);
  if (selection.empty()) {
    for (const std::string& column : table.columns) {
      if (column != columns.target) selection.push_back(column);
    }
  }
  std::unordered_set<std::string_view> seen;
  for (const std::string& column : selection) {
    if (seen.insert(column).second) continue;
    throw InvalidArgument(fmt::format("column \"{}\" is named twice", column),
                          "Name each feature once", Where::in(table.source));
  }
  if (seen.contains(columns.target)) {
    throw InvalidArgument(fmt::format("column \"{}\" is both target and feature", columns.target),
                          "Leave the target out of the features", Where::in(table.source));
  }
  selection.push_back(columns.target);
  return selection;
}

Eigen::MatrixXd select(const DataTable& table, const std::vector<std::string>& selection) {
  Eigen::MatrixXd values(table.values.rows(), static_cast<Index>(selection.size()));
  Index to = 0;
  for (const Index from : columns_of(table, selection)) values.col(to++) = table.values.col(from);
  return values;
}

Rescaling rescaling_of(const std::string& source, const std::vector<std::string>& selection,
                       const Eigen::MatrixXd& values, const CsvOptions& csv, bool all_columns) {
  const auto count = static_cast<Index>(selection.size());
  Rescaling rescaling{VectorXd::Zero(count), VectorXd::Ones(count)};
  if (source.empty()) return rescaling;
  if (source == "self") {
    rescaling.centre = values.colwise().mean().transpose();
    const Eigen::MatrixXd centred = values.rowwise() - rescaling.centre.transpose();
    rescaling.scale =
        (centred.colwise().squaredNorm() / static_cast<double>(values.rows())).cwiseSqrt();
    for (double& scale : rescaling.scale) {
      if (scale == 0.0) scale = 1.0;  // a constant column becomes zero
    }
    return rescaling;
  }
  const DataTable constants = read_csv(source, csv);
  if (constants.values.rows() != 2) {
    throw InvalidArgument(fmt::format("has {} rows of numbers", constants.values.rows()),
                          "Give two rows under the column names: centres, then scales",
                          Where::in(source));
  }
  std::unordered_map<std::string_view, Index> places;
  for (const std::string& column : selection) places.emplace(column, std::ssize(places));
  for (Index from = 0; from < std::ssize(constants.columns); ++from) {
    const std::string& column = constants.columns[static_cast<std::size_t>(from)];
    const auto found = places.find(column);
    if (found == places.end()) {
      if (!all_columns) continue;  // constants of a column that is not used
      throw InvalidArgument(fmt::format("\"{}\" is neither the target nor a feature", column),
                            suggestion(column, selection, "columns"), Where::in(source));
    }
    const Index to = found->second;
    rescaling.centre(to) = constants.values(0, from);
    rescaling.scale(to) = constants.values(1, from);
    if (!(rescaling.scale(to) > 0.0)) {
      throw InvalidArgument(
          fmt::format("the scale of \"{}\" is {}, not positive", column, rescaling.scale(to)),
          "Scales are in the second row", Where::at(source, constants.lines[1]));
    }
  }
  return rescaling;
}

void require_labels(const DataTable& table, const std::string& column, Index classes) {
  const auto labels = table.values.col(column_of(table, column));
  for (Index row = 0; row < labels.size(); ++row) {
    const double label = labels(row);
    if (label >= 0.0 && label < static_cast<double>(classes) && label == std::floor(label)) {
      continue;
    }
    throw InvalidArgument(
        fmt::format("the label in column \"{}\" is {}", column,
                    classes == 2 ? "neither 0 nor 1"
                                 : fmt::format("not one of 0, 1, ..., {}", classes - 1)),
        fmt::format("Code the classes as whole numbers from 0 to {}, or use the model ridge for a "
                    "quantity",
                    classes - 1),
        Where::at(table.source, table.lines[static_cast<std::size_t>(row)]));
  }
}

/// A label stays as it is; a file of constants must not say otherwise.
void keep_label(const RegressionColumns& columns, Rescaling& rescaling) {
  const Index target = rescaling.centre.size() - 1;
  const bool changed = rescaling.centre(target) != 0.0 || rescaling.scale(target) != 1.0;
  if (changed && columns.standardise != "self") {
    throw InvalidArgument(fmt::format("\"{}\" is a label and cannot be rescaled", columns.target),
                          "Leave its column out, or give it centre 0 and scale 1",
                          Where::in(columns.standardise));
  }
  rescaling.centre(target) = 0.0;
  rescaling.scale(target) = 1.0;
}

Eigen::MatrixXd rescale(const Eigen::MatrixXd& values, const Rescaling& rescaling) {
  return (values.rowwise() - rescaling.centre.transpose()) *
         rescaling.scale.cwiseInverse().asDiagonal();
}

/// Splits off the target and appends the intercept.
Eigen::MatrixXd features_of(const Eigen::MatrixXd& values, bool intercept) {
  Eigen::MatrixXd features(values.rows(), values.cols() - 1 + (intercept ? 1 : 0));
  features.leftCols(values.cols() - 1) = values.leftCols(values.cols() - 1);
  if (intercept) features.col(features.cols() - 1).setOnes();
  return features;
}

}  // namespace

RegressionInput read_regression(const std::string& path, const RegressionColumns& columns,
                                const CsvOptions& csv, const std::string& with_file) {
  CsvOptions used = csv;
  if (!columns.features.empty()) {  // the other columns may hold anything
    used.only = columns.features;
    used.only.push_back(columns.target);
  }
  const DataTable table = read_csv(path, used);
  const std::vector<std::string> selection = selection_of(table, columns);
  if (selection.size() == 1 && !columns.intercept) {
    throw InvalidArgument("no feature is left", "Name other columns or keep the intercept",
                          Where::in(path));
  }
  const bool is_label = columns.classes > 0;
  RegressionInput input;
  const Eigen::MatrixXd raw = select(table, selection);
  Rescaling rescaling =
      rescaling_of(columns.standardise, selection, raw, csv, columns.features.empty());
  if (is_label) {
    require_labels(table, columns.target, columns.classes);
    keep_label(columns, rescaling);
  }
  if (!columns.standardise.empty()) {
    for (std::size_t k = 0; k + (is_label ? 1 : 0) < selection.size(); ++k) {
      const auto i = static_cast<Index>(k);
      const bool changed = rescaling.centre(i) != 0.0 || rescaling.scale(i) != 1.0;
      if (!changed) input.not_rescaled.push_back(selection[k]);
    }
  }
  const Eigen::MatrixXd values = rescale(raw, rescaling);
  input.features = features_of(values, columns.intercept);
  input.target = values.col(values.cols() - 1);
  input.parameters.assign(selection.begin(), selection.end() - 1);
  if (columns.intercept) input.parameters.emplace_back("(intercept)");
  input.lines = table.lines;
  input.dropped = table.dropped;
  if (!with_file.empty()) {
    const DataTable other = read_csv(with_file, used);
    if (other.values.rows() != 1) {
      throw InvalidArgument(fmt::format("has {} records", other.values.rows()),
                            "Give the one record that replaces each row, under column names",
                            Where::in(with_file));
    }
    if (is_label) require_labels(other, columns.target, columns.classes);
    const Eigen::MatrixXd record = rescale(select(other, selection), rescaling);
    input.replacement = Record{features_of(record, columns.intercept).row(0).transpose(),
                               record(0, record.cols() - 1)};
  }
  return input;
}

}  // namespace sfumato
