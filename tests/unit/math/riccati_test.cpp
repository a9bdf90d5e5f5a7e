#include "sfumato/math/riccati.hpp"

#include <gtest/gtest.h>

#include "support/random_pairs.hpp"

namespace sfumato {
namespace {

using Eigen::MatrixXd;

TEST(Riccati, LyapunovOfARandomStableMatrix) {
  testing::RandomPairs random(1);
  for (const int d : {1, 2, 7, 30}) {
    const MatrixXd a = random.matrix(d, d) - 2.5 * std::sqrt(d) * MatrixXd::Identity(d, d);
    const MatrixXd q = random.spd(d);
    const MatrixXd x = lyapunov(a, q);
    EXPECT_LE((a * x + x * a.transpose() + q).norm(), 1e-11 * q.norm());
  }
}

TEST(Riccati, LargestSolution) {
  testing::RandomPairs random(2);
  for (const int d : {1, 3, 10, 40}) {
    const MatrixXd b = random.matrix(d, d) - std::sqrt(d) * MatrixXd::Identity(d, d);
    const MatrixXd r = random.spd(d), q = random.spd(d);
    const auto x = stabilising_riccati(b, r, q);
    ASSERT_TRUE(x.has_value());
    const MatrixXd residual = q - *x * b - b.transpose() * *x - *x * r * *x;
    EXPECT_LE(residual.norm(), 1e-8 * (q.norm() + x->norm() * b.norm()));
    EXPECT_LT(spectral_abscissa(-(b + r * *x)), 0.0);
  }
  // Without spread: the inverse of the stationary covariance, -B/R twice.
  const auto one = stabilising_riccati(MatrixXd::Constant(1, 1, -1.0),
                                       MatrixXd::Constant(1, 1, 0.5), MatrixXd::Zero(1, 1));
  ASSERT_TRUE(one.has_value());
  EXPECT_NEAR((*one)(0, 0), 4.0, 1e-12);
  EXPECT_FALSE(stabilising_riccati(MatrixXd::Zero(1, 1), MatrixXd::Ones(1, 1), MatrixXd::Zero(1, 1))
                   .has_value());
}

TEST(Riccati, PropagatedNoiseOfShortAndLongTimes) {
  const MatrixXd a = MatrixXd::Constant(1, 1, -2.0), r = MatrixXd::Ones(1, 1);
  for (const double t : {1e-12, 1e-3, 1.0, 50.0}) {
    const Propagated moved = propagate(a, r, t);
    EXPECT_NEAR(moved.flow(0, 0), std::exp(-2.0 * t), 1e-12 * std::exp(-2.0 * t) + 1e-300);
    EXPECT_NEAR(moved.spread(0, 0), -std::expm1(-4.0 * t) / 4.0, -1e-13 * std::expm1(-4.0 * t));
  }
}

}  // namespace
}  // namespace sfumato
