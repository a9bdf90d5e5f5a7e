#include "sfumato/divergence/gaussian_tradeoff.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <utility>

#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"

namespace sfumato {
namespace {

using Eigen::VectorXd;

WhitenedPair one_dimensional(double mean_q, double var_q) {
  return whiten(VectorXd::Zero(1), Isotropic{1.0, 1}, VectorXd::Constant(1, mean_q),
                Isotropic{var_q, 1});
}

TEST(GaussianTpr, EqualVariancesGiveTheGaussianTradeOff) {
  const boost::math::normal normal;
  for (const double mu : {0.1, 1.0, 3.0}) {
    for (const double fpr : {1e-6, 0.001, 0.1, 0.9}) {
      // TPR = Phi(mu + Phi^{-1}(fpr))
      const double expected = cdf(normal, mu + quantile(normal, fpr));
      EXPECT_NEAR(gaussian_tpr(one_dimensional(mu, 1.0), fpr).value / expected, 1.0, 1e-9);
    }
  }
}

TEST(GaussianTpr, ZeroShiftWiderDistributionByHand) {
  // P = N(0,1), Q = N(0,4): the best test says P on |z| < t; fpr = 2 Phi(t/2) - 1.
  const boost::math::normal normal;
  const double t = 0.8;
  const double fpr = 2.0 * cdf(normal, 0.5 * t) - 1.0;
  const double tpr = 2.0 * cdf(normal, t) - 1.0;
  EXPECT_NEAR(gaussian_tpr(one_dimensional(0.0, 4.0), fpr).value, tpr, 1e-9);
}

TEST(GaussianTpr, VariancesFarApartAreBounded) {
  const double spread = 1e10;
  for (const double half : {0.01, 0.3, 1.0, 2.5, 8.0}) {  // the best test says P on |z| < half
    const double fpr = std::erf(half / spread / std::sqrt(2.0));
    const Claimed<double> tpr = gaussian_tpr(one_dimensional(0.0, spread * spread), fpr);
    EXPECT_GE(tpr.value, std::erf(half / std::sqrt(2.0)) * (1.0 - 1e-9)) << half;
    EXPECT_LE(tpr.value, std::min(1.0, spread * fpr) * (1.0 + 1e-9)) << half;
  }
}

// Two variances, one of them 1e12: the search for a threshold among losses of 1e12 took half a minute for each rate.
TEST(GaussianTpr, HardlyOverlappingDistributionsTakeNoTime) {
  const WhitenedPair pair = whiten(VectorXd::Zero(2), Isotropic{1.0, 2}, Eigen::Vector2d(0.01, 0.1),
                                   Diagonal{Eigen::Vector2d(1.105, 1e12)});
  for (const double fpr : {0.5, 0.05, 1e-3, 1e-5}) {
    const Claimed<double> tpr = gaussian_tpr(pair, fpr);
    EXPECT_EQ(tpr.claim, Claim::upper_bound) << fpr;
    EXPECT_EQ(tpr.value, 1.0) << fpr;
  }
}

TEST(GaussianTpr, WithoutAThresholdItIsANearlySharpBound) {
  // Q twice as wide: sup p/q = e^highest is attained at a point, and double precision has no threshold
  // between it and the points of probability 1e-9 around it.
  const WhitenedPair pair = one_dimensional(0.3, 2.0);
  const double highest = 0.5 * (std::log(2.0) + 0.09);
  for (const double fpr : {1e-8, 1e-9, 1e-100, 1e-300}) {
    const Claimed<double> tpr = gaussian_tpr(pair, fpr);
    EXPECT_EQ(tpr.claim, Claim::upper_bound) << fpr;
    EXPECT_NEAR(tpr.value / (std::exp(highest) * fpr), 1.0, 1e-12) << fpr;
  }
  EXPECT_EQ(gaussian_tpr(pair, 0.3).claim, Claim::exact);
}

TEST(GaussianTpr, Edges) {
  EXPECT_EQ(gaussian_tpr(one_dimensional(1.0, 2.0), 0.0).value, 0.0);
  EXPECT_EQ(gaussian_tpr(one_dimensional(1.0, 2.0), 1.0).value, 1.0);
  EXPECT_EQ(gaussian_tpr(one_dimensional(0.0, 1.0), 0.3).value, 0.3);
  const WhitenedPair singular =
      whiten(VectorXd::Zero(1), Isotropic{0.0, 1}, VectorXd::Ones(1), Isotropic{1.0, 1});
  EXPECT_EQ(gaussian_tpr(singular, 0.0).value, 1.0);
  EXPECT_THROW((void)gaussian_tpr(singular, 1.5), InvalidArgument);
}

TEST(GaussianEpsilon, Edges) {
  EXPECT_EQ(gaussian_epsilon(one_dimensional(0.1, 1.1), Delta(0.9)).value.nats(), 0.0);
  EXPECT_EQ(gaussian_epsilon(one_dimensional(0.1, 0.9), Delta(0.0)).value.nats(), kInf);
  // Bounded loss: pure epsilon exists, its largest value log 2.
  EXPECT_NEAR(gaussian_epsilon(one_dimensional(0.0, 4.0), Delta(0.0)).value.nats(), std::log(2.0),
              1e-12);
  const WhitenedPair singular =
      whiten(VectorXd::Zero(1), Isotropic{0.0, 1}, VectorXd::Ones(1), Isotropic{1.0, 1});
  EXPECT_EQ(gaussian_epsilon(singular, Delta(0.5)).value.nats(), kInf);
}

TEST(GaussianEpsilon, DistributionsTooFarApartAreNamedAsSuch) {
  try {
    (void)gaussian_epsilon(one_dimensional(1e200, 2.0), Delta{1e-5});
    FAIL();
  } catch (const NumericalFailure& failure) {
    EXPECT_NE(std::string(failure.what()).find("too far apart"), std::string::npos)
        << failure.what();
  }
}

TEST(GaussianEpsilon, ALossThatIsBoundedButForRoundingIsSolvedLikeTheBoundedOne) {
  // A second coordinate as whitening leaves it where the distributions agree: the range of the loss becomes
  // infinite, but delta falls to e^{-1e17} right past the largest value of the first coordinate.
  for (const auto& [excess, shift] : {std::pair{0.0186, -0.177}, std::pair{0.0443, -0.0258}}) {
    const WhitenedPair bounded = one_dimensional(shift, 1.0 + excess);
    WhitenedPair rounded{false, false, Eigen::ArrayXd::Zero(2), Eigen::ArrayXd::Ones(2),
                         Eigen::ArrayXd::Constant(2, 3e-12)};
    rounded.excess(0) = bounded.excess(0);
    rounded.ratio(0) = bounded.ratio(0);
    rounded.shift(0) = bounded.shift(0);
    const double expected = gaussian_epsilon(bounded, Delta(1e-5)).value.nats();
    EXPECT_NEAR(gaussian_epsilon(rounded, Delta(1e-5)).value.nats(), expected, 1e-9 * expected);
  }
}

}  // namespace
}  // namespace sfumato
