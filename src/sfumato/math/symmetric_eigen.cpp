#include "sfumato/math/symmetric_eigen.hpp"

#include <Eigen/Eigenvalues>

#include "sfumato/math/precision.hpp"

namespace sfumato {

template <class T>
SymmetricEigenOf<T>::SymmetricEigenOf(const Matrix& matrix, Want want) {
  const bool both = want == Want::both;
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(
      matrix, both ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
  converged_ = solver.info() == Eigen::Success;
  values_ = solver.eigenvalues();
  if (both) vectors_ = solver.eigenvectors();
}

template class SymmetricEigenOf<double>;
template class SymmetricEigenOf<long double>;
template class SymmetricEigenOf<Wide>;
template class SymmetricEigenOf<Widest>;

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
