#include "sfumato/audit/threshold_choice.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sfumato {
namespace {

TEST(BestThreshold, LiesInTheGapOfSeparatedWorlds) {
  EXPECT_EQ(best_threshold({{3.0, 4.0, 5.0}, {0.0, 1.0}}, Delta(0.0), 0.05), 2.0);
  ScoreSample many;
  for (int i = 0; i < 5000; ++i) {  // more cuts than are tried
    many.with.push_back(100.0 + i);
    many.without.push_back(-i);
  }
  const double t = best_threshold(many, Delta(0.0), 0.05);
  EXPECT_EQ(counts_from(many, t), (TestCounts{5000, 5000, 0, 5000}));
}

TEST(BestThreshold, HandlesTiesAndInfinities) {
  EXPECT_EQ(best_threshold({{1.0, 1.0}, {1.0}}, Delta(0.0), 0.05), 1.0);
  EXPECT_EQ(best_threshold({{HUGE_VAL, HUGE_VAL}, {0.0, 0.0}}, Delta(0.0), 0.05), HUGE_VAL);
  EXPECT_EQ(best_threshold({{0.0, 0.0}, {-HUGE_VAL, -HUGE_VAL}}, Delta(0.0), 0.05), 0.0);
  const double next = std::nextafter(1.0, 2.0);
  EXPECT_EQ(best_threshold({{next}, {1.0}}, Delta(0.0), 0.05), next);
}

TEST(BestThreshold, Refusals) {
  EXPECT_THROW((void)best_threshold({{}, {1.0}}, Delta(0.0), 0.05), InvalidArgument);
  EXPECT_THROW((void)best_threshold({{2.0}, {1.0}}, Delta(0.0), 0.0), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
