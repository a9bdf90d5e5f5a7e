#include "sfumato/divergence/monte_carlo.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

TEST(Moments, MeanAndStandardErrorInOneOrInTwoGroups) {
  const double values[] = {1e8 + 1.0, 1e8 + 2.0, 1e8 + 4.0, 1e8 + 9.0};
  Moments whole, left, right;
  for (int i = 0; i < 4; ++i) {
    whole.add(values[i]);
    (i < 3 ? left : right).add(values[i]);
  }
  left.merge(right);
  left.merge(Moments{});
  for (const Moments& moments : {whole, left}) {
    EXPECT_EQ(moments.count(), 4U);
    EXPECT_DOUBLE_EQ(moments.mean().value, 1e8 + 4.0);
    EXPECT_NEAR(moments.mean().standard_error, std::sqrt(38.0 / 12.0), 1e-8);
  }
}

TEST(Moments, ValuesWhoseSquaresOverflow) {
  Moments sum, part;
  part.add(1e300);
  part.add(1e300);
  sum.merge(part);
  EXPECT_EQ(sum.mean().value, 1e300);
  EXPECT_EQ(sum.mean().standard_error, 0.0);
}

TEST(Moments, WhatIsNotFiniteShows) {
  Moments moments;
  EXPECT_EQ(moments.mean().value, HUGE_VAL);
  moments.add(1.0);
  EXPECT_EQ(moments.mean().value, 1.0);
  EXPECT_EQ(moments.mean().standard_error, HUGE_VAL);
  moments.add(std::numeric_limits<double>::quiet_NaN());
  moments.add(-HUGE_VAL);
  EXPECT_EQ(moments.not_finite(), 2U);
  EXPECT_EQ(moments.count(), 3U);
  EXPECT_EQ(moments.mean().value, HUGE_VAL);
}

TEST(MonteCarlo, Interval) {
  const ConfidenceInterval ninety_five = interval({2.0, 0.5}, 0.95);
  EXPECT_NEAR(ninety_five.low, 2.0 - 0.5 * 1.959963984540054, 1e-14);
  EXPECT_NEAR(ninety_five.high, 2.0 + 0.5 * 1.959963984540054, 1e-14);
  EXPECT_EQ(interval({HUGE_VAL, HUGE_VAL}, 0.95).low, HUGE_VAL);
  EXPECT_THROW((void)interval({2.0, 0.5}, 1.0), InvalidArgument);
  EXPECT_THROW((void)interval({2.0, 0.5}, std::nan("")), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
