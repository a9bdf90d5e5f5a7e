// Against dense eigenvalues; structure that breaks naive Lanczos; refusals.
#include "sfumato/math/lanczos.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <limits>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

EigenPairs largest(const MatrixXd& matrix, const LanczosOptions& options) {
  return largest_eigenpairs(
      matrix.rows(), [&](const VectorXd& v) { return VectorXd(matrix * v); }, options);
}

MatrixXd random_symmetric(Index dimension) {
  const MatrixXd a = MatrixXd::Random(dimension, dimension);
  return a + a.transpose();
}

TEST(Lanczos, AgreesWithTheDenseSolver) {
  std::srand(5);
  for (const Index dimension : {1, 2, 3, 10, 60}) {
    const MatrixXd matrix = random_symmetric(dimension);
    const Index count = std::min<Index>(4, dimension);
    const EigenPairs got = largest(matrix, {count, 200, 1e-10});
    ASSERT_TRUE(got.converged);
    ASSERT_EQ(got.values.size(), count);
    const VectorXd all = Eigen::SelfAdjointEigenSolver<MatrixXd>(matrix).eigenvalues();
    for (Index k = 0; k < count; ++k) {
      EXPECT_NEAR(got.values(k), all(dimension - 1 - k), 1e-9 * all.cwiseAbs().maxCoeff());
      const VectorXd v = got.vectors.col(k);
      EXPECT_NEAR((matrix * v - got.values(k) * v).norm(), got.residuals(k), 1e-11);
    }
    const MatrixXd gram = got.vectors.transpose() * got.vectors;
    EXPECT_LT((gram - MatrixXd::Identity(count, count)).norm(), 1e-12);
  }
}

TEST(Lanczos, LargestIsMeantWithItsSign) {
  const VectorXd values = VectorXd::LinSpaced(50, -1000.0, -1.0);
  const EigenPairs got = largest(values.asDiagonal(), {1, 50, 1e-10});
  EXPECT_NEAR(got.values(0), -1.0, 1e-7);
}

TEST(Lanczos, FewDistinctEigenvalues) {
  EXPECT_EQ(largest(MatrixXd::Zero(7, 7), {3, 7}).values, VectorXd::Zero(3));
  const EigenPairs same = largest(2.0 * MatrixXd::Identity(7, 7), {3, 7});
  EXPECT_TRUE(same.converged);
  EXPECT_LT((same.values - VectorXd::Constant(3, 2.0)).norm(), 1e-14);
  VectorXd rank_one = VectorXd::Zero(40);
  rank_one(11) = 3.0;
  const EigenPairs got = largest(rank_one.asDiagonal(), {2, 40});
  EXPECT_NEAR(got.values(0), 3.0, 1e-13);
  EXPECT_NEAR(got.values(1), 0.0, 1e-13);
}

// Rows that sum to zero, as a softmax has: a start of equal signs would see nothing of them.
TEST(Lanczos, StartsOutsideTheKernelsOfStructuredMatrices) {
  for (Index first = 0; first + 2 <= 40; ++first) {
    MatrixXd matrix = MatrixXd::Zero(40, 40);
    matrix.block(first, first, 2, 2) << 1, -1, -1, 1;
    EXPECT_NEAR(largest(matrix, {1, 40}).values(0), 2.0, 1e-12) << first;
  }
}

TEST(Lanczos, SaysWhenItRanOutOfProducts) {
  std::srand(6);
  const MatrixXd matrix = random_symmetric(90);
  const EigenPairs got = largest(matrix, {1, 10, 1e-12});
  EXPECT_FALSE(got.converged);
  EXPECT_EQ(got.products, 10);
  const VectorXd all = Eigen::SelfAdjointEigenSolver<MatrixXd>(matrix).eigenvalues();
  EXPECT_LE(got.values(0), all(89));
  EXPECT_LE((all.array() - got.values(0)).abs().minCoeff(), got.residuals(0));
}

TEST(Lanczos, Refusals) {
  const MatrixXd two = MatrixXd::Identity(2, 2);
  EXPECT_THROW((void)largest(MatrixXd(0, 0), {}), InvalidArgument);
  EXPECT_THROW((void)largest(two, {0, 5}), InvalidArgument);
  EXPECT_THROW((void)largest(two, {3, 2}), InvalidArgument);
  EXPECT_THROW((void)largest(two, {1, 5, -1.0}), InvalidArgument);
  EXPECT_THROW((void)largest(two * std::numeric_limits<double>::infinity(), {}), NumericalFailure);
}

}  // namespace
}  // namespace sfumato
