#include "sfumato/sde/contraction.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <cmath>

#include "sfumato/core/check.hpp"
#include "sfumato/math/singular_values.hpp"
#include "sfumato/sde/spectrum.hpp"

namespace sfumato {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

[[noreturn]] void throw_singular(const Where& where) {
  throw NumericalFailure("the noise covariance is singular, so it defines no metric",
                         "Add noise to the directions that have none", where);
}

/// R^{-1} A R with R R^T = S; any root R gives the same singular values and symmetric eigenvalues.
MatrixXd in_metric(const MatrixXd& a, const Covariance& metric, const Where& where) {
  require_size("the columns of the curvature", a.cols(), a.rows(), where);
  require_size("metric", dimension(metric), a.rows(), where);
  const MatrixXd s = dense(metric);
  if (s.isDiagonal(0.0)) {  // also Isotropic; A keeps its diagonal exactly
    if (!(s.diagonal().array() > 0.0).all()) throw_singular(where);
    MatrixXd result = a;
    for (Eigen::Index j = 0; j < a.cols(); ++j) {
      for (Eigen::Index i = 0; i < a.rows(); ++i) {
        if (s(i, i) != s(j, j)) result(i, j) *= std::sqrt(s(j, j) / s(i, i));
      }
    }
    return result;
  }
  if (!has_full_rank(s)) throw_singular(where);
  const Eigen::LLT<MatrixXd> root(s);
  return root.matrixL().solve(a * MatrixXd(root.matrixL()));
}

double root_condition(const Covariance& metric, const Where& where) {
  if (std::holds_alternative<Isotropic>(metric)) {
    if (!(std::get<Isotropic>(metric).variance > 0.0)) throw_singular(where);
    return 1.0;
  }
  const VectorXd values = spectrum_of(dense(metric)).values;
  if (!(values.minCoeff() > 0.0)) throw_singular(where);
  return std::sqrt(values.maxCoeff() / values.minCoeff());
}

void require_range(double lower, double upper, const Where& where) {
  require_finite("lower", lower, where);
  require_finite("upper", upper, where);
  if (lower <= upper) return;
  throw InvalidArgument(fmt::format("lower = {} is above upper = {}", lower, upper),
                        "Give the smallest and the largest curvature, in this order", where);
}

}  // namespace

double linear_contraction(const MatrixXd& curvature, const Covariance& metric) {
  const Where where = Where::here();
  const MatrixXd a = in_metric(curvature, metric, where);
  const MatrixXd symmetric = 0.5 * (a + a.transpose());
  const Spectrum spectrum = spectrum_of(symmetric);
  // A constant of bounds: never above the true one.
  return spectrum.values.minCoeff() - (spectrum.is_diagonal() ? 0.0 : rounding_of(spectrum));
}

double hessian_contraction(double lower, double upper, const Covariance& metric) {
  const Where where = Where::here();
  require_range(lower, upper, where);
  const double w = root_condition(metric, where);
  if (w == 1.0) return lower;
  return 0.5 * (upper + lower) - 0.25 * (upper - lower) * (w + 1.0 / w);
}

double linear_step_lipschitz(const MatrixXd& curvature, double learning_rate,
                             const Covariance& metric) {
  const Where where = Where::here();
  require_finite("learning_rate", learning_rate, where);
  const MatrixXd a = in_metric(curvature, metric, where);
  const MatrixXd step = MatrixXd::Identity(a.rows(), a.cols()) - learning_rate * a;
  const Spectrum spectrum = step == step.transpose()
                                ? spectrum_of(step)
                                : Spectrum{singular_values(step), MatrixXd::Zero(1, 1)};
  // A constant of bounds: never below the true one.
  return spectrum.values.cwiseAbs().maxCoeff() +
         (spectrum.is_diagonal() ? 0.0 : rounding_of(spectrum));
}

double hessian_step_lipschitz(double lower, double upper, double learning_rate,
                              const Covariance& metric) {
  const Where where = Where::here();
  require_range(lower, upper, where);
  require_finite("learning_rate", require_non_negative("learning_rate", learning_rate, where),
                 where);
  const double w = root_condition(metric, where);
  if (w == 1.0) {
    return std::max(std::abs(1.0 - learning_rate * lower), std::abs(1.0 - learning_rate * upper));
  }
  return std::abs(1.0 - 0.5 * learning_rate * (upper + lower)) +
         0.5 * learning_rate * (upper - lower) * w;
}

}  // namespace sfumato
