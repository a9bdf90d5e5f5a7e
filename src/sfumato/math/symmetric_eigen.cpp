#include "sfumato/math/symmetric_eigen.hpp"

#include "sfumato/math/symmetric_eigen_of.hpp"

namespace sfumato {

template class SymmetricEigenOf<double>;
template class SymmetricEigenOf<long double>;

TridiagonalEigen tridiagonal_eigen(const Eigen::VectorXd& diagonal, const Eigen::VectorXd& below) {
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver;
  solver.computeFromTridiagonal(diagonal, below);
  if (solver.info() != Eigen::Success) return {};
  return {true, solver.eigenvalues(), solver.eigenvectors()};
}

Eigen::VectorXd pencil_eigenvalues(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  return Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd>(
             a, b, Eigen::EigenvaluesOnly | Eigen::Ax_lBx)
      .eigenvalues();
}

}  // namespace sfumato
