#include "sfumato/math/symmetric_eigen.hpp"

#include <Eigen/Eigenvalues>

namespace sfumato {

SymmetricEigen::SymmetricEigen(const Eigen::MatrixXd& matrix, Want want) {
  const bool both = want == Want::both;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(
      matrix, both ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
  converged_ = solver.info() == Eigen::Success;
  values_ = solver.eigenvalues();
  if (both) vectors_ = solver.eigenvectors();
}

Eigen::VectorXd pencil_eigenvalues(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  return Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd>(
             a, b, Eigen::EigenvaluesOnly | Eigen::Ax_lBx)
      .eigenvalues();
}

}  // namespace sfumato
