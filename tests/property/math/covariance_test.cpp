#include "sfumato/math/covariance.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <vector>

#include "support/random_pairs.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int kCases = 1000;
constexpr std::uint64_t kSeed = 2002;

/// The same matrix in every kind that can hold it.
struct Family {
  MatrixXd matrix;
  std::vector<Covariance> members;
};

Family random_family(testing::RandomPairs& random, Index d) {
  const MatrixXd none(d, 0);
  switch (random.integer(0, 2)) {
    case 0: {
      const double v = random.log_uniform(1e-3, 1e3);
      const VectorXd diagonal = VectorXd::Constant(d, v);
      MatrixXd split(d, d);  // half of the variance in the factor
      split = MatrixXd::Identity(d, d) * std::sqrt(0.5 * v);
      return {diagonal.asDiagonal().toDenseMatrix(),
              {Isotropic{v, d}, Diagonal{diagonal}, Factored{diagonal, none},
               Factored{0.5 * diagonal, split}, Dense{diagonal.asDiagonal().toDenseMatrix()}}};
    }
    case 1: {
      VectorXd diagonal(d);
      for (double& v : diagonal) v = random.log_uniform(1e-3, 1e3);
      return {diagonal.asDiagonal().toDenseMatrix(),
              {Diagonal{diagonal}, Factored{diagonal, none},
               Dense{diagonal.asDiagonal().toDenseMatrix()}}};
    }
    default: {
      VectorXd diagonal(d);
      for (double& v : diagonal) v = random.log_uniform(0.1, 10.0);
      const MatrixXd factor = random.matrix(d, random.integer(1, 3));
      MatrixXd matrix = factor * factor.transpose();
      matrix.diagonal() += diagonal;
      MatrixXd wide(d, factor.cols() + d);  // no diagonal part: the route without Woodbury
      wide << factor, diagonal.cwiseSqrt().asDiagonal().toDenseMatrix();
      return {matrix,
              {Factored{diagonal, factor}, Factored{VectorXd::Zero(d), wide}, Dense{matrix}}};
    }
  }
}

double relative(const MatrixXd& got, const MatrixXd& expected) {
  return (got - expected).norm() / expected.norm();
}

TEST(CovarianceKinds, AgreeOnEveryOperation) {
  testing::RandomPairs random(kSeed);
  for (int i = 0; i < kCases; ++i) {
    const Index d = random.integer(1, 8);
    const Family family = random_family(random, d);
    const MatrixXd v = random.matrix(d, 2);
    const MatrixXd inverse = family.matrix.fullPivLu().inverse();
    const double log_determinant = std::log(family.matrix.fullPivLu().determinant());
    const double condition = family.matrix.norm() * inverse.norm();
    for (const Covariance& c : family.members) {
      SCOPED_TRACE(::testing::Message()
                   << "seed " << kSeed << " case " << i << " kind " << c.index());
      EXPECT_EQ(dimension(c), d);
      EXPECT_LT(relative(dense(c), family.matrix), 1e-14);
      EXPECT_LT(relative(diagonal_of(c), family.matrix.diagonal()), 1e-14);
      EXPECT_NEAR(trace(c), family.matrix.trace(), 1e-13 * family.matrix.trace());
      EXPECT_LT(relative(multiply(c, v), family.matrix * v), 1e-13);
      EXPECT_LT(relative(solve(c, v), inverse * v), 1e-13 * condition);
      EXPECT_NEAR(log_det(c), log_determinant, 1e-12 * (1.0 + std::abs(log_determinant)));
      const MatrixXd r = root(c);
      EXPECT_LT(relative(r * r.transpose(), family.matrix), 1e-13);
      const double factor = random.log_uniform(1e-6, 1e6);
      EXPECT_EQ(scaled(c, factor).index(), c.index());
      EXPECT_LT(relative(dense(scaled(c, factor)), factor * family.matrix), 1e-14);
      EXPECT_NO_THROW((void)require_covariance("c", c));
    }
  }
}

}  // namespace
}  // namespace sfumato
