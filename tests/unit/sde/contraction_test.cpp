// Values and refusals of the contraction constants of Spec §6.3 and §8.3.
#include "sfumato/sde/contraction.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

using Eigen::Matrix2d;
using Eigen::MatrixXd;
using Eigen::Vector2d;

MatrixXd matrix(double a, double b, double c, double d) {
  return (Matrix2d() << a, b, c, d).finished();
}

TEST(Contraction, LinearDrift) {
  // Golden value kappa_prime_sigma.
  EXPECT_NEAR(linear_contraction(matrix(1.8, .4, .4, 1.1), Dense{matrix(1, .4, .4, .5)}),
              0.9140840715625806, 1e-14);
  EXPECT_EQ(linear_contraction(matrix(9, 0, 0, 1), Diagonal{Vector2d(4, .25)}), 1.0);
  EXPECT_EQ(linear_contraction(matrix(9, 0, 0, -1), Isotropic{3.0, 2}), -1.0);
  // Positive definite and yet not contractive in this metric.
  EXPECT_LT(linear_contraction(matrix(10, 3, 3, 1), Diagonal{Vector2d(1, 1e4)}), 0.0);
}

TEST(Contraction, DriftsThatAreNoGradients) {
  // A shear and a turn: eigenvalues 1, 1 and 1 +- 5i.
  EXPECT_NEAR(linear_contraction(matrix(1, 2, 0, 1), Isotropic{3.0, 2}), 0.0, 1e-14);
  EXPECT_NEAR(linear_contraction(matrix(1, 2, 0, 1), Diagonal{Vector2d(1, 4)}), -1.0, 1e-14);
  EXPECT_EQ(linear_contraction(matrix(1, 5, -5, 1), Isotropic{3.0, 2}), 1.0);
  const MatrixXd a = matrix(1, -2, 0.3, 1.5);
  const MatrixXd s = matrix(1, 0.4, 0.4, 0.5);
  const double kappa = linear_contraction(a, Dense{s});
  double least = std::numeric_limits<double>::infinity();
  for (int k = 0; k < 10000; ++k) {
    const double angle = std::acos(-1.0) * k / 10000.0;
    const Vector2d v(std::cos(angle), std::sin(angle));
    const Vector2d dual = s.inverse() * v;
    least = std::min(least, dual.dot(a * v) / dual.dot(v));
  }
  EXPECT_GE(least, kappa - 1e-12);
  EXPECT_LT(least, kappa + 1e-5);
}

TEST(Contraction, HessianRange) {
  EXPECT_EQ(hessian_contraction(1.0, 3.0, Isotropic{0.1, 2}), 1.0);
  EXPECT_EQ(hessian_contraction(2.0, 2.0, Diagonal{Vector2d(1, 100)}), 2.0);
  // Attained: eigenvalues 1 and 3, turned by 45 degrees against the noise.
  const Covariance noise = Diagonal{Vector2d(1, 4)};
  EXPECT_DOUBLE_EQ(hessian_contraction(1.0, 3.0, noise), 2.0 - 1.25);
  EXPECT_NEAR(linear_contraction(matrix(2, 1, 1, 2), noise), 0.75, 1e-14);
}

TEST(Contraction, Steps) {
  EXPECT_DOUBLE_EQ(linear_step_lipschitz(matrix(3, 0, 0, 1), 0.5, Isotropic{1.0, 2}), 0.5);
  EXPECT_DOUBLE_EQ(linear_step_lipschitz(matrix(5, 0, 0, 1), 0.5, Diagonal{Vector2d(1, 9)}), 1.5);
  EXPECT_NEAR(linear_step_lipschitz(matrix(1.8, .4, .4, 1.1), .2, Dense{matrix(.2, .05, .05, .1)}),
              0.816378691542249, 1e-14);
  EXPECT_EQ(hessian_step_lipschitz(1.0, 3.0, 0.5, Isotropic{1.0, 2}), 0.5);
  EXPECT_DOUBLE_EQ(hessian_step_lipschitz(1.0, 3.0, 0.25, Diagonal{Vector2d(1, 4)}), 0.5 + 0.5);
}

TEST(Contraction, Refusals) {
  const MatrixXd a = matrix(1, 0, 0, 1);
  EXPECT_THROW((void)linear_contraction(a, Isotropic{0.0, 2}), NumericalFailure);
  EXPECT_THROW((void)linear_contraction(a, Dense{matrix(1, 1, 1, 1)}), NumericalFailure);
  EXPECT_THROW((void)linear_contraction(a, Isotropic{1.0, 3}), InvalidArgument);
  EXPECT_THROW((void)linear_contraction(MatrixXd::Ones(2, 3), Isotropic{1.0, 2}), InvalidArgument);
  EXPECT_THROW((void)linear_step_lipschitz(MatrixXd::Ones(2, 3), 0.1, Isotropic{1.0, 2}),
               InvalidArgument);
  EXPECT_THROW((void)linear_step_lipschitz(a, std::nan(""), Isotropic{1.0, 2}), InvalidArgument);
  EXPECT_THROW((void)hessian_contraction(2.0, 1.0, Isotropic{1.0, 2}), InvalidArgument);
  EXPECT_THROW((void)hessian_contraction(1.0, 2.0, Diagonal{Vector2d(1, 0)}), NumericalFailure);
  EXPECT_THROW((void)hessian_contraction(1.0, 2.0, Isotropic{0.0, 2}), NumericalFailure);
  EXPECT_THROW((void)hessian_step_lipschitz(1.0, 2.0, -1.0, Isotropic{1.0, 2}), InvalidArgument);
}

TEST(Contraction, BoxesReachBothEndsFromTheMiddleAsRounded) {
  // The middle of neighbouring doubles is one of them, so that half their distance would not reach the other.
  const double next = std::nextafter(1.0, 2.0);
  const JacobianBox box{Eigen::MatrixXd::Constant(1, 1, 1.0),
                        Eigen::MatrixXd::Constant(1, 1, next)};
  const CentredBox found = centred(box);
  EXPECT_GE(found.radii(0, 0), next - found.middle(0, 0));
  EXPECT_GE(found.radii(0, 0), found.middle(0, 0) - 1.0);
  EXPECT_GT(found.radii(0, 0), 0.75 * (next - 1.0));
}

}  // namespace
}  // namespace sfumato
