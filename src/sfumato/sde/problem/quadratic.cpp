#include "sfumato/sde/problem/quadratic.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "sfumato/core/check.hpp"
#include "sfumato/math/entries.hpp"
#include "sfumato/sde/spectrum.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

}  // namespace

QuadraticLoss quadratic_from_point(const MatrixXd& curvature, const VectorXd& point,
                                   const Where& where) {
  MatrixXd a = require_symmetric("A", curvature, where);
  require_size("x*", point.size(), a.rows(), where);
  require_finite_entries("x*", point, where);
  VectorXd pull = a * point;
  return {std::move(a), std::move(pull), point};
}

QuadraticLoss quadratic_from_pull(const MatrixXd& curvature, const VectorXd& pull,
                                  const Where& where) {
  MatrixXd a = require_symmetric("A", curvature, where);
  require_size("pull", pull.size(), a.rows(), where);
  require_finite_entries("pull", pull, where);
  return {std::move(a), pull};
}

QuadraticLoss quadratic_from_factor(const MatrixXd& factor, const VectorXd& response,
                                    const Where& where) {
  require_size("y", response.size(), factor.rows(), where);
  require_finite_entries("y", response, where);
  require_finite_entries("B", factor, where);
  if (factor.cols() == 0) {
    throw InvalidArgument("B has no columns", "Give one column per parameter", where);
  }
  MatrixXd a = factor.transpose() * factor;
  a = 0.5 * (a + a.transpose()).eval();
  return {std::move(a), factor.transpose() * response};
}

double condition_number(const QuadraticLoss& loss) {
  const Eigen::ArrayXd sizes = spectrum_of(loss.curvature).values.array().abs();
  const double smallest = sizes.minCoeff();
  return smallest == 0.0 ? std::numeric_limits<double>::infinity() : sizes.maxCoeff() / smallest;
}

Minimum minimum(const QuadraticLoss& loss) {
  const Spectrum spectrum = spectrum_of(loss.curvature);
  VectorXd x = spectrum.to_eigenbasis(loss.pull);
  const double rounding = spectrum.is_diagonal() ? 0.0 : kNoPull * loss.pull.norm();
  bool unique = true;
  for (Index i = 0; i < x.size(); ++i) {
    const double rate = spectrum.values(i);
    if (rate < 0.0) {
      return {std::nullopt, false,
              fmt::format("the loss has no minimum: eigenvalue {:.6g} of A is negative", rate)};
    }
    if (rate > 0.0) {
      x(i) /= rate;
      continue;
    }
    // The given point satisfies A x* = pull by construction, whatever the rounding of the pull.
    if (!loss.given_point && std::abs(x(i)) > rounding) {
      return {std::nullopt, false,
              fmt::format("the loss has no minimum: an eigenvalue of A is zero and the loss falls "
                          "without end along it (slope {:.6g})",
                          x(i))};
    }
    x(i) = 0.0;
    unique = false;
  }
  if (loss.given_point) return {loss.given_point, unique, ""};
  return {spectrum.from_eigenbasis(x), unique, ""};
}

}  // namespace sfumato
