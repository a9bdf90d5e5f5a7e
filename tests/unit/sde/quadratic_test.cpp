#include "sfumato/sde/problem/quadratic.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace sfumato {
namespace {

using Eigen::Matrix2d;
using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::VectorXd;

const MatrixXd kOnes = MatrixXd::Ones(2, 2);

TEST(Quadratic, FactorHasTheFactorOneHalf) {
  // Erratum 13: B = I gives A = I, so the stationary variance is 0.5 and not 0.25.
  const QuadraticLoss loss = quadratic_from_factor(MatrixXd::Identity(2, 2), Vector2d(3, 4));
  EXPECT_EQ(loss.curvature, MatrixXd(MatrixXd::Identity(2, 2)));
  EXPECT_EQ(loss.pull, VectorXd(Vector2d(3, 4)));
}

TEST(Quadratic, MinimumOfADefiniteLoss) {
  const MatrixXd a = (Matrix2d() << 2, .5, .5, 1).finished();
  const Minimum given = minimum(quadratic_from_point(a, Vector2d(.3, -.2)));
  EXPECT_EQ(given.point.value(), VectorXd(Vector2d(.3, -.2)));
  EXPECT_TRUE(given.unique);
  const Minimum solved = minimum(quadratic_from_pull(a, a * Vector2d(.3, -.2)));
  EXPECT_TRUE(solved.point.value().isApprox(Vector2d(.3, -.2), 1e-15));
}

TEST(Quadratic, SingularLossesHaveManyMinimaOrNone) {
  const Minimum least = minimum(quadratic_from_pull(kOnes, Vector2d(2, 2)));
  EXPECT_TRUE(least.point.value().isApprox(Vector2d(1, 1), 1e-15));  // of least norm
  EXPECT_FALSE(least.unique);
  const Minimum given = minimum(quadratic_from_point(kOnes, Vector2d(5, -3)));
  EXPECT_EQ(given.point.value(), VectorXd(Vector2d(5, -3)));
  const Minimum none = minimum(quadratic_from_pull(kOnes, Vector2d(2, 1)));
  EXPECT_FALSE(none.point.has_value());
  EXPECT_NE(none.reason.find("zero"), std::string::npos);
  const MatrixXd flat = (Matrix2d() << 1, 0, 0, 0).finished();
  EXPECT_FALSE(minimum(quadratic_from_pull(flat, Vector2d(1, 1e-30))).point.has_value());
}

TEST(Quadratic, ColumnsThatNearlyDependOnOthersHaveOneMinimum) {
  // The last column is -2 times the second up to the rounding of its entries: the least eigenvalue is 1e-50 of the
  // largest, and not 0. The minimiser is that of 250 digits.
  Eigen::MatrixXd factor(4, 3);
  factor << 26993574.49902992, 0.0005091030630894281, -0.0010182061261806332,  //
      24763689.70324988, 0.0006856445039538591, -0.001371289007905624,         //
      23384165.0681095, -0.00026786785786672083, 0.00053573571573254,          //
      35284081022.06052, 1.3421660794593147, -2.684332158915742;
  const Eigen::Vector4d response(0.00032914628362056193, 0.00044085122249373125,
                                 -0.00016096141769425762, 0.8561548767392813);
  const Minimum least = minimum(quadratic_from_factor(factor, response));
  ASSERT_TRUE(least.point);
  EXPECT_TRUE(least.unique);
  EXPECT_NEAR((*least.point)(1), 349958460.59186435, 1e-6);
  EXPECT_NEAR((*least.point)(2), 174979229.98163807, 1e-6);
  // And where it is -2 times the second exactly, there are many.
  factor.col(2) = -2.0 * factor.col(1);
  EXPECT_FALSE(minimum(quadratic_from_factor(factor, response)).unique);
}

TEST(Quadratic, IndefiniteLossesHaveNone) {
  const Minimum none =
      minimum(quadratic_from_point((Matrix2d() << 1, 0, 0, -2).finished(), Vector2d(0, 0)));
  EXPECT_FALSE(none.point.has_value());
  EXPECT_NE(none.reason.find("-2"), std::string::npos);
}

TEST(Quadratic, ConditionNumberIsThatOfA) {
  const MatrixXd b = (Matrix2d() << 3, 0, 0, 1).finished();
  EXPECT_DOUBLE_EQ(condition_number(quadratic_from_factor(b, Vector2d(0, 0))), 9.0);
  EXPECT_EQ(condition_number(quadratic_from_pull(kOnes, Vector2d(0, 0))),
            std::numeric_limits<double>::infinity());
}

TEST(Quadratic, RefusesWrongInputByName) {
  const MatrixXd a = MatrixXd::Identity(2, 2);
  EXPECT_THROW((void)quadratic_from_point(a, VectorXd::Zero(3)), InvalidArgument);
  EXPECT_THROW((void)quadratic_from_point(a, Vector2d(NAN, 0)), InvalidArgument);
  EXPECT_THROW((void)quadratic_from_pull(a, VectorXd::Zero(1)), InvalidArgument);
  EXPECT_THROW((void)quadratic_from_pull(MatrixXd::Ones(2, 3), Vector2d(0, 0)), InvalidArgument);
  EXPECT_THROW((void)quadratic_from_factor(a, VectorXd::Zero(3)), InvalidArgument);
  EXPECT_THROW((void)quadratic_from_factor(MatrixXd(2, 0), Vector2d(0, 0)), InvalidArgument);
  try {
    (void)quadratic_from_factor((Matrix2d() << 1, NAN, 0, 1).finished(), Vector2d(0, 0),
                                Where::at("problem.toml", 7));
    FAIL();
  } catch (const InvalidArgument& error) {
    const std::string what = error.what();
    EXPECT_EQ(what.rfind("problem.toml:7: entry 2 of row 1 of B", 0), 0U) << what;
  }
}

}  // namespace
}  // namespace sfumato
