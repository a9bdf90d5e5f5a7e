#pragma once

#include <Eigen/Eigenvalues>

#include "sfumato/math/symmetric_eigen.hpp"

namespace sfumato {

/// For the sources that instantiate it, and no others.
template <class T>
SymmetricEigenOf<T>::SymmetricEigenOf(const Matrix& matrix, Want want) {
  const bool both = want == Want::both;
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(
      matrix, both ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
  converged_ = solver.info() == Eigen::Success;
  values_ = solver.eigenvalues();
  if (both) vectors_ = solver.eigenvectors();
}

}  // namespace sfumato
