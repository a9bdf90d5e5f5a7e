// Time panels and the start after one step.
#include <gtest/gtest.h>

#include "sfumato/core/infinity.hpp"
#include "sfumato/sde/fokker_planck/time_plan.hpp"
#include "support/fokker_planck_problems.hpp"

namespace sfumato {
namespace {

TEST(TimePlan, PanelsDoubleAndStopAtEveryTime) {
  const auto plan = time_plan(0.0, {0.5, 1.0, 7.0}, {1.0, kInf, 8});
  // [0, .5], [.5, 1], [1, 2], [2, 4], [4, 7]
  ASSERT_EQ(plan.size(), 5U);
  EXPECT_EQ(plan[0].end, 0.5);
  EXPECT_EQ(plan[0].steps, 4);
  EXPECT_EQ(plan[1].end, 1.0);
  EXPECT_EQ(plan[3].begin, 2.0);
  EXPECT_EQ(plan[3].end, 4.0);
  EXPECT_EQ(plan[3].steps, 8);
  EXPECT_EQ(plan[4].end, 7.0);
  EXPECT_EQ(plan[4].steps, 6);  // three quarters of [4, 8]
  EXPECT_EQ(plan[4].after(6), 7.0);
  for (std::size_t k = 1; k < plan.size(); ++k) EXPECT_EQ(plan[k].begin, plan[k - 1].end);
}

TEST(TimePlan, RespectsTheLongestPanelAndRepeatedTimes) {
  const auto plan = time_plan(1.0, {1.0, 5.0, 5.0}, {1.0, 1.0, 4});
  ASSERT_EQ(plan.size(), 4U);
  EXPECT_EQ(plan.back().end, 5.0);
  EXPECT_TRUE(time_plan(1.0, {1.0}, {1.0, 1.0, 4}).empty());
}

TEST(TimePlan, FirstPanelFollowsTheFastestChange) {
  // Sigma / V = 4, |b| / sd = 2, slope 1.
  const auto distribution = testing::ornstein_uhlenbeck(1.0, 1.0, 1.0, 0.0, 0.25);
  EXPECT_NEAR(first_panel(distribution.diffusion, distribution.start, 0.0), 0.25 / 7.0, 1e-12);
  EXPECT_THROW(
      (void)first_panel(distribution.diffusion, point_distribution(distribution.start.mean), 0.0),
      InvalidArgument);
}

}  // namespace
}  // namespace sfumato
