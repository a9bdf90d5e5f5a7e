#include "sfumato/audit/score_sample.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace sfumato {
namespace {

TEST(ScoreSample, CountsFromTheThreshold) {
  const ScoreSample sample{{1.0, 2.0, HUGE_VAL}, {0.0, 2.0}};
  EXPECT_EQ(counts_from(sample, 2.0), (TestCounts{2, 3, 1, 2}));
  EXPECT_EQ(counts_from(sample, HUGE_VAL), (TestCounts{1, 3, 0, 2}));
}

TEST(ScoreSample, PoolKeepsEverything) {
  const ScoreSample pairs[] = {{{1.0}, {2.0}}, {{3.0, 4.0}, {5.0}}};
  const ScoreSample pool = pooled(pairs);
  EXPECT_EQ(pool.with, (std::vector<double>{1.0, 3.0, 4.0}));
  EXPECT_EQ(pool.without, (std::vector<double>{2.0, 5.0}));
}

TEST(Split, KeepsIndicesTogetherAndLosesNothing) {
  ScoreSample sample;
  for (int i = 0; i < 31; ++i) sample.with.push_back(i);
  for (int i = 0; i < 20; ++i) sample.without.push_back(i);
  const SplitSample parts = split(sample, 0.5, 3);
  EXPECT_EQ(parts.choosing.without.size(), 10u);
  EXPECT_EQ(parts.choosing.with.size(), 16u);  // 10 of the common 20, 6 of the other 11
  EXPECT_EQ(parts.fresh.with.size() + parts.choosing.with.size(), 31u);
  const std::set<double> with(parts.choosing.with.begin(), parts.choosing.with.end());
  for (const double index : parts.choosing.without) EXPECT_TRUE(with.contains(index));
  for (const double index : parts.fresh.without) EXPECT_FALSE(with.contains(index));
  EXPECT_EQ(split(sample, 0.5, 3).choosing.with, parts.choosing.with);
  EXPECT_NE(split(sample, 0.5, 4).choosing.with, parts.choosing.with);
}

TEST(Split, LeavesOneOnEachSide) {
  const ScoreSample sample{{1.0, 2.0}, {3.0, 4.0}};
  EXPECT_EQ(split(sample, 0.01, 0).choosing.with.size(), 1u);
  EXPECT_EQ(split(sample, 0.99, 0).fresh.with.size(), 1u);
}

TEST(ScoreSample, Refusals) {
  EXPECT_THROW(require_scores({{}, {1.0}}), InvalidArgument);
  EXPECT_THROW(require_scores({{1.0}, {NAN}}), InvalidArgument);
  EXPECT_THROW((void)split({{1.0}, {1.0, 2.0}}, 0.5, 0), InvalidArgument);
  EXPECT_THROW((void)split({{1.0, 2.0}, {1.0, 2.0}}, 1.0, 0), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
