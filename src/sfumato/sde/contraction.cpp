#include "sfumato/sde/contraction.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "sfumato/core/check.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/math/singular_values.hpp"
#include "sfumato/math/symmetric_eigen.hpp"
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

/// What rounding may have taken from R^{-1} A R, in the Frobenius norm.
double rounding_of_products(const MatrixXd& root, const MatrixXd& a, const MatrixXd& inverse_root) {
  return 4.0 * 2.2e-16 * static_cast<double>(a.rows()) *
         (root.cwiseAbs() * a.cwiseAbs() * inverse_root.cwiseAbs()).norm();
}

/// What rounding may have taken from in_metric(), beyond that of its entries.
double rounding_of_change(const MatrixXd& a, const Covariance& metric) {
  const MatrixXd s = dense(metric);
  if (s.isDiagonal(0.0)) return 0.0;
  const MatrixXd root = Eigen::LLT<MatrixXd>(s).matrixL();
  const MatrixXd inverse =
      root.triangularView<Eigen::Lower>().solve(MatrixXd::Identity(a.rows(), a.rows()));
  return rounding_of_products(inverse, a, root);
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
  return spectrum.values.minCoeff() - (spectrum.is_diagonal() ? 0.0 : rounding_of(spectrum)) -
         rounding_of_change(curvature, metric);
}

double hessian_contraction(double lower, double upper, const Covariance& metric) {
  const Where where = Where::here();
  require_range(lower, upper, where);
  const double w = root_condition(metric, where);
  if (w == 1.0) return lower;
  return 0.5 * (upper + lower) - 0.25 * (upper - lower) * (w + 1.0 / w);
}

namespace {

/// What rounding may have added to the eigenvalues of a matrix of this size.
double rounding_of_eigenvalues(const MatrixXd& m) {
  return 4.0 * 2.2e-16 * static_cast<double>(m.rows()) * m.norm();
}

/// -lam_max(sym(middle)) - |sym(radii)|, rounded down.
double rate_of_box(const MatrixXd& middle, const MatrixXd& radii) {
  const MatrixXd g = 0.5 * (middle + middle.transpose());
  const MatrixXd t = 0.5 * (radii + radii.transpose());
  if (!g.allFinite() || !t.allFinite()) return -kInf;
  const auto largest = [](const MatrixXd& m) {
    return SymmetricEigen(m, SymmetricEigen::Want::values).eigenvalues()(m.rows() - 1);
  };
  // A matrix without negative entries has its norm as largest eigenvalue.
  return -largest(g) - largest(t) - rounding_of_eigenvalues(g) - rounding_of_eigenvalues(t);
}

}  // namespace

CentredBox centred(const JacobianBox& box) {
  const MatrixXd middle = 0.5 * (box.lower + box.upper);
  // The middle is what it was rounded to: the radii reach both ends from there.
  const MatrixXd radii = (box.upper - middle).cwiseMax(middle - box.lower) * (1.0 + 4.0 * 2.2e-16);
  return {middle, radii};
}

double box_contraction(const JacobianBox& box, const MatrixXd& inverse_root) {
  const auto [middle, radii] = centred(box);
  if (!middle.allFinite() || !radii.allFinite()) return -kInf;
  const MatrixXd root = Eigen::PartialPivLU<MatrixXd>(inverse_root).inverse();
  return rate_of_box(root * middle * inverse_root,
                     root.cwiseAbs() * radii * inverse_root.cwiseAbs()) -
         rounding_of_products(root, middle.cwiseAbs() + radii, inverse_root);
}

double box_contraction(const JacobianBox& box, const Covariance& metric) {
  const Where where = Where::here();
  const MatrixXd s = dense(metric);
  require_size("the box", box.lower.rows(), s.rows(), where);
  require_size("the box", box.upper.rows(), s.rows(), where);
  if (!is_definite(metric)) throw_singular(where);
  if (!s.isDiagonal(0.0)) {
    const SymmetricEigen eigen(s);
    const MatrixXd symmetric = eigen.eigenvectors() * eigen.eigenvalues().cwiseSqrt().asDiagonal() *
                               eigen.eigenvectors().transpose();
    const MatrixXd reversed = Eigen::LLT<MatrixXd>(s.reverse().eval()).matrixL();
    return std::max({box_contraction(box, MatrixXd(Eigen::LLT<MatrixXd>(s).matrixL())),
                     box_contraction(box, MatrixXd(reversed.reverse())),
                     box_contraction(box, symmetric)});
  }
  const MatrixXd root = s.diagonal().cwiseSqrt().asDiagonal();
  auto [upper, rest] = centred(box);
  upper.diagonal() = box.upper.diagonal();
  rest.diagonal().setZero();
  const double one_sided =
      upper.allFinite() && rest.allFinite()
          ? rate_of_box(in_metric(upper, metric, where), in_metric(rest, metric, where))
          : -kInf;
  return std::max(box_contraction(box, root), one_sided);
}

RowContraction row_contraction(const MatrixXd& rows, double scale, double ridge,
                               const Covariance& metric) {
  const Where where = Where::here();
  require_size("the columns of the rows", rows.cols(), dimension(metric), where);
  if (!is_definite(metric)) throw_singular(where);
  const MatrixXd s = dense(metric);
  const MatrixXd root = s.isDiagonal(0.0) ? MatrixXd(s.diagonal().cwiseSqrt().asDiagonal())
                                          : MatrixXd(Eigen::LLT<MatrixXd>(s).matrixL());
  // x x^T in the metric is u v^T with u = R^{-1} x, v = R^T x; its symmetric part has two eigenvalues, of which the
  // lower one is negative unless u and v are parallel.
  const MatrixXd u = root.triangularView<Eigen::Lower>().solve(rows.transpose());
  const MatrixXd v = root.transpose() * rows.transpose();
  MatrixXd below = MatrixXd::Zero(s.rows(), s.cols()), above = below;
  for (Eigen::Index l = 0; l < rows.rows(); ++l) {
    const double length_u = u.col(l).norm(), length_v = v.col(l).norm();
    if (!(length_u > 0.0)) continue;
    const VectorXd a = u.col(l) / length_u, b = v.col(l) / length_v;
    const double product = length_u * length_v;
    // |mu_-| = product |a - b|^2 / 4 and mu_+ = product |a + b|^2 / 4: no difference of near numbers.
    below += 0.25 * product * (a - b) * (a - b).transpose();
    above += 0.25 * product * (a + b) * (a + b).transpose();
  }
  const auto largest = [&](const MatrixXd& m) {
    return SymmetricEigen(m, SymmetricEigen::Want::values).eigenvalues()(m.rows() - 1) +
           rounding_of_eigenvalues(m);
  };
  return {ridge - 0.25 * scale * largest(below), ridge + 0.25 * scale * largest(above)};
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
