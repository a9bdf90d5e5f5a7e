#include "sfumato/design/differences.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace sfumato {
namespace {

using Eigen::MatrixXd;

TEST(Differences, SecondMomentsAreMeansOfSquares) {
  RowMajorMatrix s(2, 3);
  s << 1.0, 2.0, 0.0, 3.0, -4.0, 1.0;
  const MatrixXd expected = s.transpose() * s / 2.0;
  EXPECT_TRUE(second_moments(s).variances.isApprox(expected.diagonal(), 1e-15));
  EXPECT_TRUE(dense(second_moment_matrix(s)).isApprox(expected, 1e-15));
  EXPECT_TRUE(std::holds_alternative<Factored>(second_moment_matrix(s)));
  const RowMajorMatrix tall = s.leftCols(2);
  EXPECT_TRUE(std::holds_alternative<Dense>(second_moment_matrix(tall)));
  EXPECT_TRUE(dense(second_moment_matrix(tall)).isApprox(expected.topLeftCorner(2, 2), 1e-15));
}

TEST(Differences, AViewIsReadWhereItIs) {
  RowMajorMatrix wide = RowMajorMatrix::Random(4, 10);
  const Differences part = wide.middleCols(2, 5);
  EXPECT_EQ(part.data(), &wide(0, 2));
  EXPECT_TRUE(second_moments(part).variances.isApprox(
      wide.middleCols(2, 5).colwise().squaredNorm().transpose() / 4.0, 1e-14));
}

TEST(Differences, RefusesWhatCannotBeUsedByRow) {
  EXPECT_THROW(require_differences(RowMajorMatrix(0, 3)), InvalidArgument);
  RowMajorMatrix s = RowMajorMatrix::Ones(3, 20);
  s.row(1).setZero();
  try {
    require_differences(s);
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("difference 2 is zero"), std::string::npos);
  }
  s.row(1).setOnes();
  for (const double bad : {std::nan(""), HUGE_VAL}) {
    s(2, 18) = bad;
    try {
      require_differences(s);
      FAIL();
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find("difference 3, coordinate 19"), std::string::npos);
    }
  }
  s(2, 18) = 1e200;
  EXPECT_THROW(require_differences(s), InvalidArgument);  // its square is infinite
  s.row(2).setConstant(1e-200);
  EXPECT_THROW(require_differences(s), InvalidArgument);  // its square is zero
}

TEST(Differences, BoxOfSensitivities) {
  EXPECT_EQ(second_moments_of_box(Eigen::Vector2d(3.0, 0.0)).variances, Eigen::Vector2d(9.0, 0.0));
  EXPECT_THROW((void)second_moments_of_box(Eigen::Vector2d(0.0, 0.0)), InvalidArgument);
  EXPECT_THROW((void)second_moments_of_box(Eigen::Vector2d(1.0, -1.0)), InvalidArgument);
  EXPECT_THROW((void)second_moments_of_box(Eigen::Vector2d(1.0, std::nan(""))), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
