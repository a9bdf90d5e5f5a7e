#include "sfumato/data/rescaling.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <string_view>
#include <unordered_map>

#include "sfumato/core/error.hpp"
#include "sfumato/core/suggest.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

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

}  // namespace

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

}  // namespace sfumato
