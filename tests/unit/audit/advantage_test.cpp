#include "sfumato/audit/advantage.hpp"

#include <gtest/gtest.h>

#include "sfumato/core/error.hpp"
#include "sfumato/random/stream.hpp"

namespace sfumato {
namespace {

// Newcombe 1998, table II, method 10, 95 %: differences (a) 56/70 - 48/80 and (e), (g) at the edges.
TEST(Advantage, AgreesWithThePublishedIntervals) {
  const AdvantageEstimate a = advantage_of({56, 70, 48, 80}, 0.95);
  EXPECT_NEAR(a.value, 0.2, 1e-12);
  EXPECT_NEAR(a.lower, 0.0524, 5e-5);
  EXPECT_NEAR(a.upper, 0.3339, 5e-5);
  const AdvantageEstimate b = advantage_of({9, 10, 3, 10}, 0.95);
  EXPECT_NEAR(b.lower, 0.1705, 5e-5);
  EXPECT_NEAR(b.upper, 0.8090, 5e-5);
  const AdvantageEstimate none = advantage_of({0, 10, 0, 20}, 0.95);
  EXPECT_NEAR(none.lower, -0.1611, 5e-5);
  EXPECT_NEAR(none.upper, 0.2775, 5e-5);
  const AdvantageEstimate all = advantage_of({10, 10, 0, 10}, 0.95);
  EXPECT_NEAR(all.lower, 0.6075, 5e-5);
  EXPECT_EQ(all.upper, 1.0);
}

TEST(Advantage, RefusesCountsThatDoNotFit) {
  EXPECT_THROW((void)advantage_of({1, 0, 0, 1}, 0.95), InvalidArgument);
  EXPECT_THROW((void)advantage_of({2, 1, 0, 1}, 0.95), InvalidArgument);
  EXPECT_THROW((void)advantage_of({1, 1, 0, 1}, 1.0), InvalidArgument);
}

ScoreSample normal_scores(std::size_t count, double shift, std::uint64_t seed) {
  ScoreSample sample;
  sample.with.resize(count);
  sample.without.resize(count);
  const Stream stream(StreamKey(seed, Purpose::simulation));
  stream.fill_normal(0, 0, std::span<double>(sample.with));
  stream.fill_normal(1, 0, std::span<double>(sample.without));
  for (double& score : sample.with) score += shift;
  return sample;
}

TEST(CrossFittedAdvantage, IsNotBiasedUpwards) {
  // Scores that say nothing: the maximum of a ROC curve would average about 0.2 with 30 models.
  double sum = 0.0;
  std::size_t covered = 0;
  constexpr std::size_t kRuns = 400;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    const AdvantageEstimate none = cross_fitted_advantage(normal_scores(30, 0.0, seed), 0.95, seed);
    sum += none.value;
    if (none.lower <= 0.0 && 0.0 <= none.upper) ++covered;
  }
  EXPECT_NEAR(sum / kRuns, 0.0, 0.03);  // standard error below 0.007
  EXPECT_GE(covered, 360u);             // 380 expected; below 360 with probability 1e-5
}

TEST(CrossFittedAdvantage, FindsWhatScoresShow) {
  // N(2, 1) against N(0, 1): the best threshold has advantage 0.6827.
  const AdvantageEstimate some = cross_fitted_advantage(normal_scores(2000, 2.0, 1), 0.95, 1);
  EXPECT_NEAR(some.value, 0.6827, 0.04);
  EXPECT_LE(some.lower, 0.6827);
  ScoreSample certain{{1, 2, 3, 4}, {-1, -2, -3, -4}};
  EXPECT_EQ(cross_fitted_advantage(certain, 0.95, 0).value, 1.0);
  EXPECT_THROW((void)cross_fitted_advantage({{1}, {0}}, 0.95, 0), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
