#include "sfumato/math/symmetric_eigen.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <limits>

namespace sfumato {
namespace {

using Eigen::MatrixXd;

MatrixXd table() {
  MatrixXd m(9, 6);
  for (Eigen::Index i = 0; i < m.size(); ++i) m(i) = std::sin(1.0 + 3.7 * static_cast<double>(i));
  return m;
}

/// What it stands for, to the last bit: numbers must not depend on where Eigen was compiled.
TEST(SymmetricEigen, IsEigensSolver) {
  const MatrixXd m = table();
  const MatrixXd gram = m.transpose() * m;
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(gram);
  const SymmetricEigen eigen(gram);
  EXPECT_TRUE(eigen.converged());
  EXPECT_EQ(eigen.eigenvalues(), solver.eigenvalues());
  EXPECT_EQ(eigen.eigenvectors(), solver.eigenvectors());
  const Eigen::SelfAdjointEigenSolver<MatrixXd> alone(gram, Eigen::EigenvaluesOnly);
  const SymmetricEigen values(gram, SymmetricEigen::Want::values);
  EXPECT_EQ(values.eigenvalues(), alone.eigenvalues());
  EXPECT_EQ(values.eigenvectors().size(), 0);
  // A product handed over as an expression is the same as its value.
  EXPECT_EQ(Eigen::SelfAdjointEigenSolver<MatrixXd>(m.transpose() * m).eigenvalues(),
            SymmetricEigen(m.transpose() * m).eigenvalues());
}

TEST(SymmetricEigen, ReadsTheLowerHalf) {
  MatrixXd m(2, 2);
  m << 2.0, std::numeric_limits<double>::quiet_NaN(), 1.0, 2.0;
  const SymmetricEigen eigen(m);
  EXPECT_NEAR(eigen.eigenvalues()(0), 1.0, 1e-15);
  EXPECT_NEAR(eigen.eigenvalues()(1), 3.0, 1e-15);
}

TEST(PencilEigenvalues, OfTwoMatrices) {
  const MatrixXd a = Eigen::Vector3d(6.0, 1.0, 2.0).asDiagonal();
  const MatrixXd b = Eigen::Vector3d(2.0, 4.0, 1.0).asDiagonal();
  EXPECT_TRUE(pencil_eigenvalues(a, b).isApprox(Eigen::Vector3d(0.25, 2.0, 3.0), 1e-14));
}

}  // namespace
}  // namespace sfumato
