#include "sfumato/math/covariance.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <cmath>

#include "sfumato/core/infinity.hpp"
#include "sfumato/core/overloaded.hpp"
#include "sfumato/math/entries.hpp"
#include "sfumato/math/symmetric_eigen.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kDefinitenessTolerance = 1e-12;  // the rounding of eigenvalues

void require_variance(std::string_view name, double variance, const Where& where) {
  if (std::isfinite(variance) && variance >= 0.0) return;
  throw InvalidArgument(fmt::format("{} = {} is not a finite variance >= 0", name, variance),
                        "Give variances, not standard deviations with a sign", where);
}

void require_variances(std::string_view name, const VectorXd& variances, const Where& where) {
  for (Index i = 0; i < variances.size(); ++i) {
    if (std::isfinite(variances(i)) && variances(i) >= 0.0) continue;
    require_variance(fmt::format("entry {} of {}", i + 1, name), variances(i), where);
  }
}

MatrixXd require_psd(std::string_view name, const MatrixXd& matrix, const Where& where) {
  if (matrix.rows() == 0 && matrix.cols() == 0) return matrix;
  MatrixXd symmetric = require_symmetric(name, matrix, where);
  const double largest = symmetric.cwiseAbs().maxCoeff();
  const VectorXd eigenvalues =
      SymmetricEigen(symmetric, SymmetricEigen::Want::values).eigenvalues();
  if (eigenvalues(0) < -kDefinitenessTolerance * largest) {
    throw InvalidArgument(
        fmt::format("{} is not positive semi-definite: its smallest eigenvalue is {:.6g} "
                    "(the largest is {:.6g})",
                    name, eigenvalues(0), eigenvalues(eigenvalues.size() - 1)),
        "A covariance has no negative eigenvalue; check the off-diagonal entries", where);
  }
  return symmetric;
}

[[noreturn]] void throw_singular(const char* function) {
  throw NumericalFailure("the covariance is singular and has no inverse",
                         "Work inside its range, or add noise to the empty directions",
                         Where::here(function));
}

/// The pieces of Woodbury's identity for diag(d) + F F^T, d > 0:
/// inverse = D^-1 - D^-1 F C^-1 F^T D^-1 with the capacitance C = I + F^T D^-1 F.
struct Woodbury {
  VectorXd inverse_diagonal;
  MatrixXd scaled_factor;  ///< D^-1 F
  Eigen::LLT<MatrixXd> capacitance;

  explicit Woodbury(const Factored& c)
      : inverse_diagonal(c.diagonal.cwiseInverse()),
        scaled_factor(inverse_diagonal.asDiagonal() * c.factor),
        capacitance(MatrixXd::Identity(c.factor.cols(), c.factor.cols()) +
                    c.factor.transpose() * scaled_factor) {}

  [[nodiscard]] MatrixXd solve(const MatrixXd& v) const {
    return inverse_diagonal.asDiagonal() * v -
           scaled_factor * capacitance.solve(scaled_factor.transpose() * v);
  }
};

double log_det_of(const Eigen::LLT<MatrixXd>& llt) {
  return 2.0 * llt.matrixLLT().diagonal().array().log().sum();
}

bool has_zero(const VectorXd& variances) { return (variances.array() == 0.0).any(); }

// Cholesky itself often succeeds on a singular matrix, with rounding noise as its last pivot.
MatrixXd solve_dense(const MatrixXd& matrix, const MatrixXd& v) {
  if (!has_full_rank(matrix)) throw_singular("solve");
  return Eigen::LLT<MatrixXd>(matrix).solve(v);
}

}  // namespace

Covariance require_covariance(std::string_view name, Covariance covariance, const Where& where) {
  std::visit(Overloaded{[&](const Isotropic& c) { require_variance(name, c.variance, where); },
                        [&](const Diagonal& c) { require_variances(name, c.variances, where); },
                        [&](const Factored& c) {
                          require_variances(name, c.diagonal, where);
                          require_finite_entries(name, c.factor, where);
                          if (c.factor.rows() != c.diagonal.size()) {
                            throw InvalidArgument(
                                fmt::format("{} has a diagonal of {} and a factor of {} rows", name,
                                            c.diagonal.size(), c.factor.rows()),
                                "Both have one row per parameter", where);
                          }
                        },
                        [&](Dense& c) { c.matrix = require_psd(name, c.matrix, where); }},
             covariance);
  return covariance;
}

Index dimension(const Covariance& covariance) {
  return std::visit(Overloaded{[](const Isotropic& c) { return c.dimension; },
                               [](const Diagonal& c) { return c.variances.size(); },
                               [](const Factored& c) { return c.diagonal.size(); },
                               [](const Dense& c) { return c.matrix.rows(); }},
                    covariance);
}

bool has_full_rank(const MatrixXd& matrix) {
  if (matrix.size() == 0) return true;
  if (!(matrix.diagonal().array() > 0.0).all()) return false;
  const VectorXd inverse = matrix.diagonal().cwiseSqrt().cwiseInverse();
  const SymmetricEigen eigen(inverse.asDiagonal() * matrix * inverse.asDiagonal(),
                             SymmetricEigen::Want::values);
  const VectorXd& eigenvalues = eigen.eigenvalues();  // they ascend
  return eigenvalues(0) > kRankTolerance * eigenvalues(eigenvalues.size() - 1);
}

bool is_definite(const Covariance& covariance) {
  return std::visit(Overloaded{[](const Isotropic& c) { return c.variance > 0.0; },
                               [](const Diagonal& c) { return (c.variances.array() > 0.0).all(); },
                               [](const auto& c) { return has_full_rank(dense(c)); }},
                    covariance);
}

bool same_matrix(const Covariance& a, const Covariance& b) {
  if (dimension(a) != dimension(b)) return false;
  if (const auto* p = std::get_if<Isotropic>(&a)) {
    if (const auto* q = std::get_if<Isotropic>(&b)) return p->variance == q->variance;
  }
  return dense(a) == dense(b);
}

bool is_diagonal(const Covariance& covariance) {
  return std::visit(Overloaded{[](const Factored& c) {
                                 for (const auto& column : c.factor.colwise()) {
                                   if ((column.array() != 0.0).count() > 1) return false;
                                 }
                                 return true;
                               },
                               [](const Dense& c) { return c.matrix.isDiagonal(0.0); },
                               [](const auto&) { return true; }},
                    covariance);
}

std::optional<double> isotropic_variance(const Covariance& covariance) {
  const VectorXd variances = diagonal_of(covariance);
  const bool isotropic = (variances.array() == variances(0)).all() && is_diagonal(covariance);
  return isotropic && variances(0) > 0.0 ? std::optional(variances(0)) : std::nullopt;
}

VectorXd diagonal_of(const Covariance& covariance) {
  return std::visit(Overloaded{[](const Isotropic& c) -> VectorXd {
                                 return VectorXd::Constant(c.dimension, c.variance);
                               },
                               [](const Diagonal& c) -> VectorXd { return c.variances; },
                               [](const Factored& c) -> VectorXd {
                                 return c.diagonal + c.factor.rowwise().squaredNorm();
                               },
                               [](const Dense& c) -> VectorXd { return c.matrix.diagonal(); }},
                    covariance);
}

double trace(const Covariance& covariance) { return diagonal_of(covariance).sum(); }

MatrixXd dense(const Covariance& covariance) {
  return std::visit(Overloaded{[](const Dense& c) -> MatrixXd { return c.matrix; },
                               [](const Factored& c) -> MatrixXd {
                                 MatrixXd m = c.factor * c.factor.transpose();
                                 m.diagonal() += c.diagonal;
                                 return m;
                               },
                               [&](const auto&) -> MatrixXd {
                                 return diagonal_of(covariance).asDiagonal().toDenseMatrix();
                               }},
                    covariance);
}

Covariance scaled(const Covariance& covariance, double factor) {
  return std::visit(
      Overloaded{[&](const Isotropic& c) -> Covariance {
                   return Isotropic{factor * c.variance, c.dimension};
                 },
                 [&](const Diagonal& c) -> Covariance { return Diagonal{factor * c.variances}; },
                 [&](const Factored& c) -> Covariance {
                   return Factored{factor * c.diagonal, std::sqrt(factor) * c.factor};
                 },
                 [&](const Dense& c) -> Covariance { return Dense{factor * c.matrix}; }},
      covariance);
}

MatrixXd multiply(const Covariance& covariance, const MatrixXd& v) {
  return std::visit(
      Overloaded{[&](const Isotropic& c) -> MatrixXd { return c.variance * v; },
                 [&](const Diagonal& c) -> MatrixXd { return c.variances.asDiagonal() * v; },
                 [&](const Factored& c) -> MatrixXd {
                   return c.diagonal.asDiagonal() * v + c.factor * (c.factor.transpose() * v);
                 },
                 [&](const Dense& c) -> MatrixXd { return c.matrix * v; }},
      covariance);
}

MatrixXd solve(const Covariance& covariance, const MatrixXd& v) {
  return std::visit(
      Overloaded{[&](const Isotropic& c) -> MatrixXd {
                   if (c.variance == 0.0) throw_singular("solve");
                   return v / c.variance;
                 },
                 [&](const Diagonal& c) -> MatrixXd {
                   if (has_zero(c.variances)) throw_singular("solve");
                   return c.variances.cwiseInverse().asDiagonal() * v;
                 },
                 [&](const Factored& c) -> MatrixXd {
                   if (has_zero(c.diagonal)) return solve_dense(dense(c), v);
                   return Woodbury(c).solve(v);
                 },
                 [&](const Dense& c) -> MatrixXd { return solve_dense(c.matrix, v); }},
      covariance);
}

double log_det(const Covariance& covariance) {
  const auto of_dense = [](const MatrixXd& m) {
    return has_full_rank(m) ? log_det_of(Eigen::LLT<MatrixXd>(m)) : -kInf;
  };
  return std::visit(Overloaded{[](const Isotropic& c) {
                                 return static_cast<double>(c.dimension) * std::log(c.variance);
                               },
                               [](const Diagonal& c) { return c.variances.array().log().sum(); },
                               [&](const Factored& c) {
                                 if (has_zero(c.diagonal)) return of_dense(dense(c));
                                 return c.diagonal.array().log().sum() +
                                        log_det_of(Woodbury(c).capacitance);
                               },
                               [&](const Dense& c) { return of_dense(c.matrix); }},
                    covariance);
}

MatrixXd root(const Covariance& covariance) {
  return std::visit(
      Overloaded{[](const Dense& c) -> MatrixXd {
                   // Symmetric root: unlike Cholesky it exists for singular matrices too.
                   const SymmetricEigen eigen(c.matrix);
                   const VectorXd roots = eigen.eigenvalues().cwiseMax(0.0).cwiseSqrt();
                   return eigen.eigenvectors() * roots.asDiagonal() *
                          eigen.eigenvectors().transpose();
                 },
                 [](const Factored& c) -> MatrixXd {
                   MatrixXd r(c.diagonal.size(), c.diagonal.size() + c.factor.cols());
                   r << c.diagonal.cwiseSqrt().asDiagonal().toDenseMatrix(), c.factor;
                   return r;
                 },
                 [&](const auto&) -> MatrixXd {
                   return diagonal_of(covariance).cwiseSqrt().asDiagonal().toDenseMatrix();
                 }},
      covariance);
}

}  // namespace sfumato
