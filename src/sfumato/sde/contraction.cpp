#include "sfumato/sde/contraction.hpp"

#include <Eigen/Eigenvalues>
#include <cmath>

#include "sfumato/core/check.hpp"

namespace sfumato {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Eigenvalues and vectors of a metric, which must be positive definite.
Eigen::SelfAdjointEigenSolver<MatrixXd> definite(const Covariance& metric) {
  Eigen::SelfAdjointEigenSolver<MatrixXd> solver(dense(metric));
  if (!(solver.eigenvalues().minCoeff() > 0.0)) {
    throw NumericalFailure("the metric of a contraction constant is singular",
                           "Give noise with positive variance in every direction");
  }
  return solver;
}

}  // namespace

double linear_contraction(const MatrixXd& curvature, const Covariance& metric) {
  require_size("metric", dimension(metric), curvature.rows());
  MatrixXd whitened = curvature;
  if (!std::holds_alternative<Isotropic>(metric)) {
    const auto solver = definite(metric);
    const VectorXd roots = solver.eigenvalues().cwiseSqrt();
    const MatrixXd& q = solver.eigenvectors();
    whitened =
        roots.cwiseInverse().asDiagonal() * (q.transpose() * curvature * q) * roots.asDiagonal();
  }
  const MatrixXd symmetric = 0.5 * (whitened + whitened.transpose());
  return Eigen::SelfAdjointEigenSolver<MatrixXd>(symmetric, Eigen::EigenvaluesOnly)
      .eigenvalues()
      .minCoeff();
}

double convex_contraction(double kappa, double lipschitz, const Covariance& metric) {
  if (std::holds_alternative<Isotropic>(metric)) return kappa;
  const VectorXd values = definite(metric).eigenvalues();
  const double root = std::sqrt(values.maxCoeff() / values.minCoeff());
  return 0.5 * (kappa + lipschitz) - 0.25 * (lipschitz - kappa) * (root + 1.0 / root);
}

}  // namespace sfumato
