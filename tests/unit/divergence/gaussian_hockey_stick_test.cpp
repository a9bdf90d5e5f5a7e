#include "sfumato/divergence/gaussian_hockey_stick.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/gaussian_tradeoff.hpp"
#include "sfumato/divergence/gdp.hpp"

namespace sfumato {
namespace {

using Eigen::VectorXd;

WhitenedPair one_dimensional(double mean_q, double var_q) {
  return whiten(VectorXd::Zero(1), Isotropic{1.0, 1}, VectorXd::Constant(1, mean_q),
                Isotropic{var_q, 1});
}

TEST(HockeyStick, EqualVariancesUseTheClosedForm) {
  EXPECT_EQ(gaussian_hockey_stick(one_dimensional(1.0, 1.0), 0.7).delta, gdp_delta(1.0, 0.7).delta);
}

TEST(HockeyStick, ContinuousAcrossTheMergingOfEqualVariances) {
  const double merged = gaussian_hockey_stick(one_dimensional(0.5, 1.0), 0.3).delta;
  for (const double u : {2e-12, 1e-10, -1e-10, 1e-8, -1e-8}) {
    EXPECT_NEAR(gaussian_hockey_stick(one_dimensional(0.5, 1.0 + u), 0.3).delta / merged, 1.0,
                4.0 * std::abs(u) + 1e-11);
  }
}

TEST(HockeyStick, VariancesThatDifferByLessThanARoundingAreBounded) {
  // To first order TV(N(0, 1), N(0, 1 + x)) = |x| phi(1), phi(1) = 0.241970724519143.
  for (const double excess : {1e-18, -3e-30, 9e-16}) {
    WhitenedPair pair;
    pair.excess = Eigen::ArrayXd::Constant(1, excess);
    pair.ratio = 1.0 + pair.excess;
    pair.shift = Eigen::ArrayXd::Zero(1);
    const HockeyStick h = gaussian_hockey_stick(pair, 0.0);
    EXPECT_EQ(h.claim, Claim::upper_bound);
    EXPECT_GE(h.delta, 0.241970724519143 * std::fabs(excess));
    EXPECT_LE(h.delta, 0.2501 * std::fabs(excess));
    EXPECT_EQ(gaussian_hockey_stick(pair, 0.3).delta, 0.0);
    // L = -log(1 + x)/2 ... is about -x/2 (z^2 - 1): for x < 0 it exceeds eps with probability P(z^2 > 1 + 2 eps/|x|), which is
    // 1e-100 at z = 21.27: eps = 226 |x|, and hardly less where delta is that.
    const Claimed<Epsilon> epsilon = gaussian_epsilon(pair, Delta{1e-100});
    EXPECT_EQ(epsilon.claim, Claim::upper_bound);
    EXPECT_GE(epsilon.value.nats(), 226 * std::fabs(excess));
    EXPECT_LE(epsilon.value.nats(), 1000 * std::fabs(excess));
    EXPECT_EQ(gaussian_epsilon(pair, Delta{1e-3}).value.nats(), 0.0);
  }
  // Beside a shift that is plain to see nothing changes.
  EXPECT_EQ(gaussian_hockey_stick(one_dimensional(1.0, 1.0), 0.0).claim, Claim::exact);
}

TEST(HockeyStick, WiderSecondDistributionHasABoundedLoss) {
  // P = N(0,1), Q = N(0,4): log(p/q) is at most log 2, so delta is exactly 0 from there on.
  const WhitenedPair pair = one_dimensional(0.0, 4.0);
  EXPECT_EQ(gaussian_hockey_stick(pair, std::log(2.0) + 1e-12).delta, 0.0);
  EXPECT_GT(gaussian_hockey_stick(pair, std::log(2.0) - 1e-3).delta, 0.0);
}

TEST(HockeyStick, JustBelowTheTopOfABoundedLossABoundIsGiven) {
  // P = N(0,1), Q = N(2,4): at a gap g below the top the loss exceeds eps where |z - z0| < r, with
  // r^2 = g/a, a = 3/8, z0 = -2/3; to first order delta = density(z0) 4/3 g r.
  const WhitenedPair pair = one_dimensional(2.0, 4.0);
  const double top = std::log(2.0) + 2.0 / 3.0;
  const double density = std::exp(-2.0 / 9.0) / std::sqrt(2.0 * 3.14159265358979324);
  for (const double gap : {1e-13, 1e-11, 1e-9}) {
    const HockeyStick h = gaussian_hockey_stick(pair, top - gap);
    const double truth = density * 4.0 / 3.0 * gap * std::sqrt(gap / 0.375);
    EXPECT_EQ(h.claim, Claim::upper_bound) << gap;
    // The test's own top has an error of 2e-16.
    EXPECT_GE(h.delta, truth * (1.0 - 1e-15 / gap)) << gap;
    EXPECT_LE(h.delta, truth * (1.0 + 3e-14 / gap + 1e-4)) << gap;
  }
  const HockeyStick exact = gaussian_hockey_stick(pair, top - 1e-4);
  EXPECT_EQ(exact.claim, Claim::exact);
}

TEST(HockeyStick, NarrowerSecondDistributionHasALossBoundedBelow) {
  const WhitenedPair pair = one_dimensional(0.0, 0.25);  // log(p/q) >= -log 2
  EXPECT_DOUBLE_EQ(gaussian_hockey_stick(pair, -1.0).delta, -std::expm1(-1.0));
  EXPECT_GT(gaussian_hockey_stick(pair, -0.6).delta, -std::expm1(-0.6));
}

TEST(HockeyStick, OneRatioNearOneBesideAnotherIsStillExact) {
  // Removing a record from least squares gives such pairs once the flow has nearly settled: the sign of
  // the vertex is that of a term which matters only where the integrand has long died out.
  const auto pair = [](double excess) {
    return whiten(VectorXd::Zero(2), Isotropic{1.0, 2}, Eigen::Vector2d(-4.8e-4, -1.6),
                  Diagonal{Eigen::Vector2d(1.0 + excess, 4.35)});
  };
  const WhitenedPair known = pair(-4e-8);
  // One coordinate by its closed form, the other by a trapezoidal rule of 200001 nodes.
  EXPECT_NEAR(gaussian_hockey_stick(known, 0.5).delta, 0.2592051148, 1e-9);
  EXPECT_NEAR(gaussian_hockey_stick(swapped(known), 0.5).delta, 0.4242093752, 1e-9);
  for (double excess = 1e-11; excess < 1e-2; excess *= 10.0) {
    for (const double eps : {0.0, 0.5, 1.0}) {
      for (const WhitenedPair& p : {pair(excess), pair(-excess)}) {
        EXPECT_EQ(gaussian_hockey_stick(p, eps).claim, Claim::exact) << excess << " " << eps;
        EXPECT_EQ(gaussian_hockey_stick(swapped(p), eps).claim, Claim::exact) << excess;
      }
    }
  }
}

TEST(HockeyStick, ThresholdsFarBelowTheMean) {
  // A contour with s0 > 0 alone gives nonsense here (Spec §3.3, step 0).
  const WhitenedPair pair = one_dimensional(30.0, 1.0 - 1e-6);
  EXPECT_NEAR(gaussian_hockey_stick(pair, -5.0).delta, 1.0, 1e-12);
  EXPECT_LE(gaussian_hockey_stick(pair, -5.0).delta, 1.0);
}

TEST(HockeyStick, LogDeltaSurvivesUnderflow) {
  const HockeyStick h = gaussian_hockey_stick(one_dimensional(1.0, 0.9), 3000.0);
  EXPECT_GT(h.delta, 0.0);  // rounded up, never to "no leak"
  EXPECT_LT(h.delta, 1e-300);
  EXPECT_LT(h.log_delta, -1000.0);
  EXPECT_TRUE(std::isfinite(h.log_delta));
}

TEST(HockeyStick, MutuallySingularDistributionsAreAlwaysToldApart) {
  const WhitenedPair pair =
      whiten(VectorXd::Zero(1), Isotropic{0.0, 1}, VectorXd::Ones(1), Isotropic{0.0, 1});
  EXPECT_EQ(gaussian_hockey_stick(pair, 50.0).delta, 1.0);
  EXPECT_EQ(gaussian_total_variation(pair).value, 1.0);
}

TEST(HockeyStick, IdenticalDistributions) {
  const WhitenedPair pair = one_dimensional(0.0, 1.0);
  EXPECT_EQ(gaussian_hockey_stick(pair, 0.0).delta, 0.0);
  EXPECT_DOUBLE_EQ(gaussian_hockey_stick(pair, -2.0).delta, -std::expm1(-2.0));
}

TEST(HockeyStick, InfiniteThresholdsAndNaN) {
  const WhitenedPair pair = one_dimensional(1.0, 2.0);
  EXPECT_EQ(gaussian_hockey_stick(pair, kInf).delta, 0.0);
  EXPECT_EQ(gaussian_hockey_stick(pair, -kInf).delta, 1.0);
  EXPECT_THROW((void)gaussian_hockey_stick(pair, std::nan("")), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
