#include "sfumato/sde/time_grid.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

TEST(TimeGrid, EqualStepsBetweenReportedTimes) {
  const auto plan = segments({{0.0, 0.25, 1.0, 1.0}, 0.1});
  ASSERT_EQ(plan.size(), 4U);
  EXPECT_EQ(plan[0].steps, 0U);
  EXPECT_EQ(plan[1].steps, 3U);
  EXPECT_DOUBLE_EQ(plan[1].step, 0.25 / 3.0);
  EXPECT_EQ(plan[2].first_step, 3U);
  EXPECT_EQ(plan[2].steps, 8U);
  EXPECT_EQ(plan[2].start, 0.25);
  EXPECT_EQ(plan[2].end, 1.0);
  EXPECT_EQ(plan[3].steps, 0U);
  EXPECT_EQ(plan[3].first_step, 11U);
}

TEST(TimeGrid, RoundingAddsNoStep) {
  EXPECT_EQ(segments({{1.0}, 0.1}).front().steps, 10U);
  EXPECT_EQ(segments({{1.1}, 0.1}).front().steps, 11U);  // 1.1 / 0.1 rounds above 11
  EXPECT_EQ(segments({{7.0}, 0.001}).front().steps, 7000U);
  EXPECT_EQ(segments({{1e-30}, 0.1}).front().steps, 1U);
}

TEST(TimeGrid, Refusals) {
  EXPECT_THROW((void)segments({{}, 0.1}), InvalidArgument);
  EXPECT_THROW((void)segments({{1.0}, 0.0}), InvalidArgument);
  EXPECT_THROW((void)segments({{1.0}, std::nan("")}), InvalidArgument);
  EXPECT_THROW((void)segments({{-1.0}, 0.1}), InvalidArgument);
  EXPECT_THROW((void)segments({{1.0, 0.5}, 0.1}), InvalidArgument);
  EXPECT_THROW((void)segments({{HUGE_VAL}, 0.1}), InvalidArgument);
  EXPECT_THROW((void)segments({{1.0}, 1e-13}), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
