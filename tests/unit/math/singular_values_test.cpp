#include "sfumato/math/singular_values.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/math/symmetric_eigen.hpp"

namespace sfumato {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd table() {
  MatrixXd m(6, 6);
  for (Eigen::Index i = 0; i < m.size(); ++i) m(i) = std::sin(1.0 + 3.7 * static_cast<double>(i));
  return m;
}

TEST(SingularValues, AreRootsOfTheGramMatrix) {
  const MatrixXd m = table();
  const VectorXd squares = SymmetricEigen(m.transpose() * m).eigenvalues().reverse();
  EXPECT_TRUE(singular_values(m).cwiseAbs2().isApprox(squares, 1e-12));
  const LeftSingular left = left_singular(m);
  EXPECT_TRUE(left.values.isApprox(singular_values(m), 1e-13));
  EXPECT_TRUE((left.vectors * left.values.cwiseAbs2().asDiagonal() * left.vectors.transpose())
                  .isApprox(m * m.transpose(), 1e-12));
}

}  // namespace
}  // namespace sfumato
