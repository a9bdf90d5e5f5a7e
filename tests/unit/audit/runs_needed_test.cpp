#include "sfumato/audit/runs_needed.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

/// All models decide, at one level.
std::optional<std::uint64_t> needed(double eps, double delta, double alpha,
                                    const AttackRates& attack = {}) {
  return runs_to_refute(Epsilon(eps), Delta(delta), [&](std::uint64_t models) {
    return std::vector<PlannedTest>{{expected_counts(models, attack), alpha}};
  });
}

/// What even a perfect attack cannot pass, at confidence 95 %.
TEST(EpsilonCap, OfTenToAThousandRuns) {
  EXPECT_NEAR(maximum_epsilon(10, Delta(0.0), 0.05), 0.81, 0.005);
  EXPECT_NEAR(maximum_epsilon(50, Delta(0.0), 0.05), 2.57, 0.005);
  EXPECT_NEAR(maximum_epsilon(100, Delta(0.0), 0.05), 3.28, 0.005);
  EXPECT_NEAR(maximum_epsilon(1000, Delta(0.0), 0.05), 5.60, 0.005);
  EXPECT_THROW((void)maximum_epsilon(0, Delta(0.0), 0.05), InvalidArgument);
}

TEST(RunsToRefute, IsTheLeastNumberWhoseCapIsAbove) {
  for (const double eps : {0.1, 1.0, 3.0, 6.0, 10.0}) {
    const auto runs = needed(eps, 1e-5, 0.05).value();
    EXPECT_GT(maximum_epsilon(runs, Delta(1e-5), 0.05), eps);
    EXPECT_LE(maximum_epsilon(runs - 1, Delta(1e-5), 0.05), eps);
  }
}

TEST(RunsToRefute, KnowsAttacksThatAreTooWeak) {
  // TPR / FPR = 2: no number of runs shows more than log 2.
  EXPECT_FALSE(needed(0.7, 0.0, 0.05, {0.2, 0.1}));
  const auto runs = needed(0.5, 0.0, 0.05, {0.2, 0.1});
  ASSERT_TRUE(runs);
  EXPECT_GT(*runs, needed(0.5, 0.0, 0.05).value());
  EXPECT_THROW((void)needed(1.0, 0.0, 0.05, {1.5, 0.0}), InvalidArgument);
  EXPECT_THROW((void)needed(1.0, 0.0, 0.0), InvalidArgument);
}

TEST(RunsToRefute, TakesTheTestThatNeedsLeast) {
  const auto plan = [](std::uint64_t models) {
    return std::vector<PlannedTest>{{expected_counts(models, {}), 0.001},
                                    {expected_counts(models, {}), 0.05}};
  };
  EXPECT_EQ(runs_to_refute(Epsilon(1.0), Delta(1e-5), plan), needed(1.0, 1e-5, 0.05));
  EXPECT_FALSE(runs_to_refute(Epsilon(1.0), Delta(1e-5),
                              [](std::uint64_t) { return std::vector<PlannedTest>{}; }));
}

}  // namespace
}  // namespace sfumato
