#include "sfumato/account/accountant/clipping.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

TEST(Clipping, OnlyTheLargestContributionCounts) {
  EXPECT_NEAR(contribution_of_layers({1, 1}, {1, 1}), std::sqrt(2.0), 1e-14);
  EXPECT_GE(contribution_of_layers({3, 4}, {1, 1}), 5.0);
  EXPECT_NEAR(contribution_of_box({1, 2}, {4, 1}), std::sqrt(0.25 + 4.0), 1e-14);
  EXPECT_NEAR(contribution_of_ball(2.0, Diagonal{Eigen::Vector2d(4, 0.25)}), 4.0, 1e-14);
  EXPECT_EQ(contribution_in_metric(1.5), 1.5);
  EXPECT_GE(contribution_of_layers({1e200, 1e200}, {1e-100, 1e-100}), 1.41e300);  // no overflow
  EXPECT_THROW((void)contribution_of_layers({1}, {1, 2}), InvalidArgument);
  EXPECT_THROW((void)contribution_of_layers({1}, {0}), InvalidArgument);
  EXPECT_THROW((void)contribution_of_ball(1, Diagonal{Eigen::Vector2d(1, 0)}), NumericalFailure);
  // A clip per tensor accounted as one clip of the whole gradient would be wrong by sqrt(layers).
  EXPECT_NEAR(multiplier_of(contribution_of_layers({1, 1, 1, 1}, {1, 1, 1, 1})), 0.5, 1e-14);
}

}  // namespace
}  // namespace sfumato
