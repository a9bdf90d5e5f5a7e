#include "sfumato/problem/quadratic_loss.hpp"

#include <fmt/format.h>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// B; a list is one column.
MatrixXd factor_of(const Source& source) { return source.array().values; }

VectorXd response_of(const Source& source, Index rows) {
  const ArrayValue y = source.array();
  if (y.rank == 2 || y.values.rows() != rows) {
    throw InvalidArgument(fmt::format("`{}` has shape {} x {}, B has {} rows", source.label,
                                      y.values.rows(), y.values.cols(), rows),
                          "Give a list with one number per row of B", y.where);
  }
  return y.values.col(0);
}

/// The loss of curvature A, placed by `minimiser` or `pull`.
QuadraticLoss located(const MatrixXd& curvature, const Source& location, const Where& where) {
  const VectorXd vector = vector_of(location, curvature.cols());
  return location.key == "pull" ? quadratic_from_pull(curvature, vector, where)
                                : quadratic_from_point(curvature, vector, where);
}

QuadraticLoss loss_of_factor(const MatrixXd& factor, const Source& curvature,
                             const Source& location) {
  const Where where = curvature.where();
  if (location.key == "y") {
    return quadratic_from_factor(factor, response_of(location, factor.rows()), where);
  }
  const VectorXd vector = vector_of(location, factor.cols());
  return location.key == "pull" ? quadratic_from_factor_and_pull(factor, vector, where)
                                : quadratic_from_factor_and_point(factor, vector, where);
}

QuadraticLoss loss_without_row(const Side& side) {
  const Where where = side.own().where("without_row");
  for (const char* key : {"A", "B", "minimiser", "pull", "y"}) {
    if (!side.own().has(key)) continue;
    throw InvalidArgument(fmt::format("`{}.{}` and `{}.without_row` both define the loss",
                                      side.name(), key, side.name()),
                          "Keep one of them", where);
  }
  const auto curvature = side.find_behind({"B"});
  const auto location = side.find_behind({"y"});
  if (!curvature || !location) {
    throw InvalidArgument("`without_row` removes a row of B and y, which [d] does not give",
                          "Give B and y in [d], or the loss of D' in full", where);
  }
  const MatrixXd factor = factor_of(*curvature);
  const VectorXd response = response_of(*location, factor.rows());
  const std::int64_t row = side.own().integer("without_row");
  if (row < 1 || row > factor.rows()) {
    throw InvalidArgument(
        fmt::format("`without_row` = {}, but B has rows 1 to {}", row, factor.rows()),
        "Give the number of a row", where);
  }
  const Index rest = factor.rows() - row;
  MatrixXd other_factor(factor.rows() - 1, factor.cols());
  VectorXd other_response(factor.rows() - 1);
  other_factor << factor.topRows(row - 1), factor.bottomRows(rest);
  other_response << response.head(row - 1), response.tail(rest);
  return quadratic_from_factor(other_factor, other_response, where);
}

QuadraticLoss loss_of(const Side& side) {
  if (side.own().has("without_row")) return loss_without_row(side);
  const Source curvature = side.require({"A", "B"}, "the curvature");
  const Source location = side.require({"minimiser", "pull", "y"}, "the location of the loss");
  if (location.key == "y" && curvature.key != "B") {
    throw InvalidArgument(
        fmt::format("`{}` needs B, but the curvature is `{}`", location.label, curvature.label),
        fmt::format("Give `{}.minimiser` or `{}.pull` with A", side.name(), side.name()),
        (side.has_behind() ? curvature : location).where());
  }
  if (curvature.key == "B") return loss_of_factor(factor_of(curvature), curvature, location);
  const ArrayValue a = curvature.array();
  MatrixXd matrix;
  if (a.rank == 2) {
    matrix = a.values;
  } else if (a.rank == 1) {
    matrix = a.values.col(0).asDiagonal();
  } else {  // a multiple of the identity, as large as the location
    const Index dimension = location.array().values.rows();
    matrix = a.values(0, 0) * MatrixXd::Identity(dimension, dimension);
  }
  return located(matrix, location, a.where);
}

}  // namespace

std::vector<std::string> loss_keys(const Side& side) {
  std::vector<std::string> keys = {"A", "B", "y", "minimiser", "pull"};
  if (side.has_behind()) keys.emplace_back("without_row");
  return keys;
}

std::vector<KeyInfo> loss_key_infos() {
  const char* matrix = "number | list | matrix | path";
  return {{"d", "A", {}, matrix, "", false, "curvature of the loss 1/2 x^T A x - pull^T x"},
          {"d", "B", {}, "matrix | path", "", false, "instead of A: the loss is 1/2 |B x - y|^2"},
          {"d", "minimiser", {}, "list | path", "", false, "x*, the minimiser of the loss"},
          {"d", "pull", {}, "list | path", "", false, "A x*, instead of the minimiser"},
          {"d", "y", {}, "list | path", "", false, "with B, instead of the minimiser"}};
}

QuadraticLoss read_quadratic_loss(const Side& side) {
  QuadraticLoss loss = loss_of(side);
  if (!loss.curvature.allFinite() || !loss.pull.allFinite()) {
    throw InvalidArgument(
        fmt::format("the curvature or pull of [{}] is beyond the range of a double", side.name()),
        "Rescale the parameters or the records", side.own().where(""));
  }
  return loss;
}

std::string way_of_change(const Side& side) {
  if (!side.own().has("without_row")) return {};
  return fmt::format("D' is D without row {} of B and y", side.own().integer("without_row"));
}

}  // namespace sfumato
