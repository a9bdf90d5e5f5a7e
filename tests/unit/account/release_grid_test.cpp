#include "sfumato/account/accountant/release_grid.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sfumato/account/lattice/discrete_noise.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/random/discrete_gaussian.hpp"

namespace sfumato {
namespace {

TEST(RoundingGrid, RoundsToTheNearestAndNeverTooFar) {
  const RoundingGrid grid{10.0, 100.0};
  Eigen::ArrayXd near(2);
  near << 0.34, -0.56;
  grid.round(near);
  EXPECT_EQ(near(0), 3.0);
  EXPECT_EQ(near(1), -6.0);
  Eigen::ArrayXd edge(4);  // of norm 1: its nearest integers have 4 * 25 = 100
  edge << 0.5, 0.5, 0.5, 0.5;
  grid.round(edge);
  EXPECT_LE(edge.square().sum(), 100.0);
  Eigen::ArrayXd truncated(2);  // the nearest integers, 8 and 7, are too long
  truncated << 0.76, 0.66;
  grid.round(truncated);
  EXPECT_EQ(truncated(0), 7.0);
  EXPECT_EQ(truncated(1), 6.0);
  Eigen::ArrayXd far(1), nan(1), inf(1);
  far << 1e300;
  nan << std::numeric_limits<double>::quiet_NaN();
  inf << std::numeric_limits<double>::infinity();
  grid.round(far), grid.round(nan), grid.round(inf);
  EXPECT_EQ(far(0), 0.0);
  EXPECT_EQ(nan(0), 0.0);
  EXPECT_EQ(inf(0), 0.0);
}

TEST(RoundingGrid, OfSumsKeepsTheMultiplier) {
  for (const double multiplier : {0.01, 0.3, 1.0, 7.7, 300.0, 9000.0, 3e5}) {
    for (const double draws : {1.0, 1e4, 1e9}) {
      const SumGrid grid = sum_grid(2.5, multiplier, 1e5, draws);
      const double mu = std::sqrt(grid.grid.square) / static_cast<double>(grid.deviation) *
                        discrete_noise_cost(static_cast<double>(grid.deviation), draws).mu_factor;
      EXPECT_LE(mu, 1.0 / multiplier) << multiplier;
      EXPECT_GE(mu, 0.95 / multiplier) << multiplier;
      EXPECT_LE(grid.deviation, kLargestDeviation);
    }
  }
  EXPECT_THROW((void)sum_grid(1.0, 1e12, 1e5, 1.0), InvalidArgument);
}

TEST(RoundingGrid, OfMomentsKeepsMuForTheWorstIntegerRows) {
  for (const double mu : {1e-3, 0.1, 1.0, 30.0}) {
    for (const bool replaced : {false, true}) {
      const MomentGrid grid = moment_grid(3.0, mu, replaced, 1e5, 1e3);
      const auto n = static_cast<double>(grid.deviation);
      EXPECT_GE(static_cast<double>(grid.diagonal), std::sqrt(2.0) * n);
      const double factor = discrete_noise_cost(n, 1e3).mu_factor;
      // zero_out: one row along an axis; replace: two rows along two axes (Spec §22.2), as long as integers get.
      const double v = std::floor(std::sqrt(grid.grid.square));
      const double one = v * v / static_cast<double>(grid.diagonal);
      const double worst = replaced ? std::sqrt(2.0) * one : one;
      EXPECT_LE(worst * factor, mu);
      EXPECT_GE(worst * factor, 0.9 * mu) << mu;
    }
  }
}

}  // namespace
}  // namespace sfumato
