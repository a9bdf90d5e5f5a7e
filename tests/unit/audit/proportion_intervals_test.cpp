#include "sfumato/audit/proportion_intervals.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

/// The same posterior by sampling: epsilon of each pair of rates, then the quantiles.
TEST(CredibleEpsilon, AgreesWithSampling) {
  const TestCounts counts{45, 50, 4, 60};
  const double delta = 0.01;
  std::mt19937_64 engine(7);
  const auto beta = [&](double a, double b) {
    const double x = std::gamma_distribution<double>(a)(engine);
    return x / (x + std::gamma_distribution<double>(b)(engine));
  };
  std::vector<double> draws;
  for (int i = 0; i < 100000; ++i) {
    const double fnr = beta(5.5, 45.5), fpr = beta(4.5, 56.5);
    const auto term = [&](double a, double b) {
      return a > delta ? std::log((a - delta) / b) : 0.0;
    };
    draws.push_back(std::max(
        {0.0, term(1 - fnr, fpr), term(1 - fpr, fnr), term(fnr, 1 - fpr), term(fpr, 1 - fnr)}));
  }
  std::sort(draws.begin(), draws.end());
  const EpsilonInterval interval = credible_epsilon(counts, Delta(delta), 0.9, Worlds::independent);
  // Standard error of a 5 % quantile of 1e5 draws here: below 0.004.
  EXPECT_NEAR(interval.lower.value.nats(), draws[5000], 0.02);
  EXPECT_NEAR(interval.upper.value.nats(), draws[95000], 0.02);
  EXPECT_EQ(interval.lower.claim, Claim::estimate);
}

TEST(CredibleEpsilon, SurvivesZeroCountsAndManyModels) {
  const auto few = credible_epsilon({10, 10, 0, 10}, Delta(1e-5), 0.95, Worlds::independent);
  EXPECT_GT(few.lower.value.nats(), 1.0);
  EXPECT_TRUE(std::isfinite(few.upper.value.nats()));
  const auto many =
      credible_epsilon({900000, 1000000, 100000, 1000000}, Delta(0.0), 0.95, Worlds::independent);
  EXPECT_NEAR(many.lower.value.nats(), std::log(9.0), 0.01);
  EXPECT_NEAR(many.upper.value.nats(), std::log(9.0), 0.01);
  EXPECT_LT(many.lower.value, many.upper.value);
}

TEST(CredibleEpsilon, Refusals) {
  const TestCounts counts{5, 10, 1, 10};
  EXPECT_THROW((void)credible_epsilon(counts, Delta(0.0), 0.95, Worlds::coupled), InvalidArgument);
  EXPECT_THROW((void)credible_epsilon(counts, Delta(0.0), 1.0, Worlds::independent),
               InvalidArgument);
  EXPECT_THROW((void)credible_epsilon({1, 0, 0, 1}, Delta(0.0), 0.9, Worlds::independent),
               InvalidArgument);
}

}  // namespace
namespace {

TEST(ClopperPearson, MatchesReferencesFromTheSafeSide) {
  // golden.json, 22 digits
  EXPECT_LE(clopper_pearson_lower(7, 50, 0.025), 0.05819170034037208486347);
  EXPECT_NEAR(clopper_pearson_lower(7, 50, 0.025), 0.05819170034037208, 1e-12);
  EXPECT_GE(clopper_pearson_upper(7, 50, 0.025), 0.2673960024970084371564);
  EXPECT_NEAR(clopper_pearson_upper(7, 50, 0.025), 0.2673960024970084, 1e-12);
  const ProbabilityInterval both = clopper_pearson(7, 50, 0.95);
  EXPECT_NEAR(both.lower, clopper_pearson_lower(7, 50, 0.025), 1e-12);
  EXPECT_NEAR(both.upper, clopper_pearson_upper(7, 50, 0.025), 1e-12);
}

TEST(ClopperPearson, EndsAreClosedForms) {
  EXPECT_EQ(clopper_pearson_lower(0, 10, 0.1), 0.0);
  EXPECT_EQ(clopper_pearson_upper(10, 10, 0.1), 1.0);
  EXPECT_NEAR(clopper_pearson_lower(10, 10, 0.1), std::pow(0.1, 0.1), 1e-11);
  // 1 - 0.1^(1e-7): the difference would lose seven digits
  EXPECT_NEAR(clopper_pearson_upper(0, 10'000'000, 0.1) / 2.302584827905468e-7, 1.0, 1e-9);
}

TEST(ClopperPearson, HoldsForMillionsOfTrials) {
  for (const std::uint64_t n : {1'000'000u, 10'000'000u, 20'000'000u}) {
    for (const double rate : {1e-6, 0.001, 0.1, 0.2, 0.5, 0.8, 0.999}) {
      const auto trials = static_cast<double>(n);
      const auto k = static_cast<std::uint64_t>(rate * trials);
      const double sd = std::sqrt(rate * (1.0 - rate) / trials);
      // 1.96 standard errors and a correction of order 1/n
      EXPECT_NEAR(clopper_pearson_lower(k, n, 0.025), rate - 1.96 * sd, 4.0 / trials + 0.01 * sd);
      EXPECT_NEAR(clopper_pearson_upper(k, n, 0.025), rate + 1.96 * sd, 4.0 / trials + 0.01 * sd);
    }
  }
}

TEST(ClopperPearson, RefusesWhatIsNoExperiment) {
  EXPECT_THROW((void)clopper_pearson_lower(0, 0, 0.1), InvalidArgument);
  EXPECT_THROW((void)clopper_pearson_upper(2, 1, 0.1), InvalidArgument);
  EXPECT_THROW((void)clopper_pearson_lower(1, 2, 0.0), InvalidArgument);
  EXPECT_THROW((void)clopper_pearson_upper(1, 2, 1.0), InvalidArgument);
  EXPECT_THROW((void)clopper_pearson(1, 2, NAN), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
