// Spec §2 (1), (2), (3), (4).
#include "sfumato/divergence/gaussian_kl.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/core/infinity.hpp"

namespace sfumato {
namespace {

using Eigen::Vector2d;
using Eigen::VectorXd;

WhitenedPair one_dimensional(double mean_q, double var_p, double var_q) {
  return whiten(VectorXd::Zero(1), Isotropic{var_p, 1}, VectorXd::Constant(1, mean_q),
                Isotropic{var_q, 1});
}

TEST(GaussianKl, OneDimensionByHand) {
  EXPECT_DOUBLE_EQ(gaussian_kl(one_dimensional(1.0, 1.0, 1.0)).value.value(), 0.5);
  // 1/2 [log 4 - 1 + 1/4 + 9/4]
  EXPECT_DOUBLE_EQ(gaussian_kl(one_dimensional(3.0, 1.0, 4.0)).value.value(),
                   0.5 * (std::log(4.0) - 1.0 + 0.25 + 2.25));
}

TEST(GaussianKl, KeepsDigitsForNearlyEqualCovariances) {
  const double u = 1e-9;
  // psi(1 + u)/2 = u^2/4 to leading order; the textbook formula gives 0 or noise here.
  EXPECT_NEAR(gaussian_kl(one_dimensional(0.0, 1.0, 1.0 + u)).value.value() / (u * u / 4.0), 1.0,
              1e-6);
}

TEST(GaussianKl, KeepsDigitsForVeryUnequalCovariances) {
  for (const double ratio : {1e8, 1e14, 1e100}) {
    const WhitenedPair pair = one_dimensional(0.0, 1.0, ratio);
    const double forward = 0.5 * (1.0 / ratio - 1.0 + std::log(ratio));
    const double reverse = 0.5 * (ratio - 1.0 - std::log(ratio));
    EXPECT_NEAR(gaussian_kl(pair).value.value() / forward, 1.0, 1e-14) << ratio;
    EXPECT_NEAR(gaussian_kl(swapped(pair)).value.value() / reverse, 1.0, 1e-14) << ratio;
    // D_{1/2} = -2 log of the Bhattacharyya coefficient, the same both ways.
    const double half = std::log(0.5 * (1.0 + ratio)) - 0.5 * std::log(ratio);
    EXPECT_NEAR(gaussian_renyi(pair, 0.5).value.value() / half, 1.0, 1e-13) << ratio;
    EXPECT_NEAR(gaussian_renyi(swapped(pair), 0.5).value.value() / half, 1.0, 1e-13) << ratio;
  }
}

TEST(GaussianKl, IdenticalDistributionsGiveExactlyZero) {
  EXPECT_EQ(gaussian_kl(one_dimensional(0.0, 0.3, 0.3)).value.value(), 0.0);
}

TEST(GaussianKl, MutuallySingularDistributionsGiveInfinity) {
  const WhitenedPair pair = one_dimensional(0.0, 0.0, 1.0);
  EXPECT_EQ(gaussian_kl(pair).value.value(), kInf);
  EXPECT_EQ(gaussian_kl(swapped(pair)).value.value(), kInf);
  EXPECT_EQ(gaussian_renyi(pair, 2.0).value.value(), kInf);
}

TEST(GaussianKl, SaysWhenARankToleranceDecided) {
  Eigen::Matrix2d singular;
  singular << 1.0, 1.0, 1.0, 1.0;
  const auto kl = gaussian_kl(
      whiten(Vector2d::Zero(), Dense{singular}, Vector2d::Ones(), Dense{2.0 * singular}));
  EXPECT_EQ(kl.claim, Claim::exact);
  ASSERT_EQ(kl.assumptions.size(), 1u);
  EXPECT_NEAR(kl.value.value(), 0.5 * (std::log(2.0) - 1.0 + 0.5 + 0.5), 1e-12);
}

TEST(GaussianRenyi, EqualVariancesAreOrderTimesHalfSquaredShift) {
  const WhitenedPair pair = one_dimensional(2.0, 1.0, 1.0);
  EXPECT_DOUBLE_EQ(gaussian_renyi(pair, 5.0).value.value(), 10.0);
  EXPECT_DOUBLE_EQ(gaussian_renyi(pair, 0.5).value.value(), 1.0);
}

TEST(GaussianRenyi, InfiniteWhenTheMixedVarianceIsNotPositive) {
  const WhitenedPair pair = one_dimensional(0.0, 1.0, 0.5);  // 1 + a (0.5 - 1) <= 0 from a = 2 on
  EXPECT_EQ(gaussian_renyi(pair, 2.0).value.value(), kInf);
  EXPECT_TRUE(std::isfinite(gaussian_renyi(pair, 1.9).value.value()));
}

TEST(GaussianRenyi, ExtremeRatiosAndOrdersNearOne) {
  // One dimension, no shift, 40 digits: (ratio, order) -> D.
  EXPECT_NEAR(gaussian_renyi(one_dimensional(0.0, 1.0, 1e17), 2.0).value.value(), 19.2253, 1e-3);
  EXPECT_NEAR(gaussian_renyi(one_dimensional(0.0, 1.0, 1e14), 1.00001).value.value(), 15.6181,
              1e-3);
  EXPECT_NEAR(gaussian_renyi(one_dimensional(0.0, 1.0, 1e-17), 0.5).value.value(), 18.879, 1e-3);
  // The KL is no stand-in near order one when Q is narrow: the moment blows up at a = 1/(1 - ratio).
  EXPECT_GT(gaussian_renyi(one_dimensional(0.0, 1.0, 1e-8), 1.0 + 1e-9).value.value(), 5.2e7);
  EXPECT_EQ(gaussian_renyi(one_dimensional(0.0, 1.0, 1e-10), 1.0 + 1e-9).value.value(), kInf);
}

TEST(GaussianRenyi, RefusesOrdersThatAreNotPositive) {
  const WhitenedPair pair = one_dimensional(1.0, 1.0, 1.0);
  EXPECT_THROW((void)gaussian_renyi(pair, 0.0), InvalidArgument);
  EXPECT_THROW((void)gaussian_renyi(pair, -1.0), InvalidArgument);
  EXPECT_THROW((void)gaussian_renyi(pair, kInf), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
