#include "sfumato/audit/clopper_pearson.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/core/error.hpp"

namespace sfumato {
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
