#include "sfumato/audit/lower_bounds.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

TEST(LowerBounds, MatchGoldenValuesFromBelow) {
  const TestCounts counts{95, 100, 3, 100};
  const auto eps = epsilon_lower_bound(counts, Delta(1e-5), 0.95);
  EXPECT_LE(eps.value.nats(), 2.343299487629830534297);
  EXPECT_NEAR(eps.value.nats(), 2.343299487629830, 1e-10);
  EXPECT_EQ(eps.claim, Claim::lower_bound);
  EXPECT_EQ(eps.confidence, 0.95);
  const auto delta = delta_lower_bound(counts, Epsilon(0.5), 0.95);
  EXPECT_NEAR(delta.value.probability(), 0.7467335186015608, 1e-10);
  EXPECT_NEAR(mu_lower_bound(counts, 0.95).value, 2.5826621086946107, 1e-9);
}

TEST(LowerBounds, TakeTheBetterDirection) {
  // On D always in the event, on D' half of the time: the complement tells more.
  const RateBounds rates = rate_bounds({1000, 1000, 500, 1000}, 0.05);
  EXPECT_GT(epsilon_lower(rates, Delta(0.0)), 4.0);
  EXPECT_LT(std::log(rates.tpr_lower / rates.fpr_upper), 0.8);
  EXPECT_NEAR(delta_lower(rates, Epsilon(2.0)), rates.tnr_lower - std::exp(2.0) * rates.fnr_upper,
              1e-12);
}

TEST(LowerBounds, AreZeroWhereNothingIsShown) {
  for (const TestCounts& counts : {TestCounts{0, 10, 0, 10}, TestCounts{10, 10, 10, 10},
                                   TestCounts{0, 10, 10, 10}, TestCounts{5, 10, 5, 10}}) {
    const RateBounds rates = rate_bounds(counts, 0.05);
    EXPECT_EQ(epsilon_lower(rates, Delta(0.0)), 0.0);
    EXPECT_EQ(delta_lower(rates, Epsilon(0.0)), 0.0);
    EXPECT_EQ(mu_lower(rates), 0.0);
  }
  EXPECT_EQ(epsilon_lower(rate_bounds({10, 10, 0, 10}, 0.05), Delta(1.0)), 0.0);
}

TEST(LowerBounds, RefuseBadCountsAndConfidence) {
  EXPECT_THROW((void)rate_bounds({1, 0, 0, 1}, 0.05), InvalidArgument);
  EXPECT_THROW((void)rate_bounds({1, 1, 2, 1}, 0.05), InvalidArgument);
  EXPECT_THROW((void)epsilon_lower_bound({1, 1, 0, 1}, Delta(0.0), 1.0), InvalidArgument);
  EXPECT_THROW((void)delta_lower_bound({1, 1, 0, 1}, Epsilon(0.0), 0.0), InvalidArgument);
  EXPECT_THROW((void)mu_lower_bound({1, 1, 0, 1}, NAN), InvalidArgument);
}

}  // namespace
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
