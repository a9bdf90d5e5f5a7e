// Values, edges and reasons of Spec §8.2 and §8.3.
#include "sfumato/divergence/linear_chain.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/chain_gap.hpp"
#include "support/just_above.hpp"

namespace sfumato {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

LinearChain scalar(double rate, double target, double eta, double variance) {
  return {MatrixXd::Constant(1, 1, rate), VectorXd::Constant(1, rate * target), eta,
          Isotropic{variance, 1}};
}
GaussianDistribution point(double at) { return point_distribution(VectorXd::Constant(1, at)); }
double value(const KlBound& bound) { return bound.kl.value.value(); }
bool says(const KlBound& bound, const char* text) {
  return bound.reason.find(text) != std::string::npos;
}

const LinearChainPair kGolden{scalar(1, 0, .1, .1), point(.5), scalar(1.5, .3, .1, .1), point(.5)};

TEST(LinearChain, GoldenPair) {
  EXPECT_NEAR(exact_kl(kGolden, 10).value.value(), 0.0623106239954368, 1e-14);
  EXPECT_NEAR(value(path_kl(kGolden, 10)), 0.07779722976263673, 1e-14);
  EXPECT_NEAR(value(chain_contractive_bound(kGolden, 0.85, 10)), 0.07539582030369396, 1e-14);
  const ChainContractiveBound best = best_contractive_bound(kGolden, 10);
  EXPECT_DOUBLE_EQ(best.lipschitz, 0.85);
  EXPECT_LE(value(best.bound), 0.07539582030369396 * (1 + 1e-12));
  EXPECT_GE(value(best.bound), 0.0623106239954368);
}

TEST(LinearChain, NumbersOfSteps) {
  EXPECT_EQ(value(path_kl(kGolden, 0)), 0.0);
  EXPECT_EQ(value(best_contractive_bound(kGolden, 0).bound), 0.0);
  // One step from a common point: everything is the KL of the step, eta^2 (g - g')^2 / (2 S).
  EXPECT_NEAR(value(path_kl(kGolden, 1)), 0.01 * 0.04 / 0.2, 1e-16);
  EXPECT_NEAR(exact_kl(kGolden, 1).value.value(), 0.002, 1e-16);
  EXPECT_NEAR(value(best_contractive_bound(kGolden, 1).bound), 0.002, 1e-16);
  // 1e9 steps cost no more time than ten; the path grows at the limiting rate.
  const double half = value(path_kl(kGolden, 5e8));
  EXPECT_NEAR(value(path_kl(kGolden, 1e9)), 2.0 * half, 1e-7 * half);
  EXPECT_NEAR(value(best_contractive_bound(kGolden, 1e9).bound),
              value(best_contractive_bound(kGolden, kInf).bound), 1e-10);
  EXPECT_TRUE(says(path_kl(kGolden, kInf), "grows without bound"));
}

TEST(LinearChain, StartsThatDifferAddTheirKl) {
  LinearChainPair pair = kGolden;
  pair.q = pair.p;
  pair.start_p = {VectorXd::Zero(1), Isotropic{1.0, 1}};
  pair.start_q = {VectorXd::Constant(1, 2.0), Isotropic{1.0, 1}};
  testing::expect_just_above(value(path_kl(pair, 5)), 2.0);
  testing::expect_just_above(value(path_kl(pair, kInf)), 2.0);
  testing::expect_just_above(value(best_contractive_bound(pair, 5).bound), 2.0);
  testing::expect_just_above(value(best_contractive_bound(pair, kInf).bound), 2.0);
  pair.start_q = point(1.0);
  EXPECT_TRUE(says(path_kl(pair, 5), "starts"));
  EXPECT_TRUE(says(best_contractive_bound(pair, 5).bound, "starts"));
}

TEST(LinearChain, Obstacles) {
  LinearChainPair unequal = kGolden;
  unequal.q.step_noise = Isotropic{0.2, 1};
  EXPECT_TRUE(says(best_contractive_bound(unequal, 5).bound, "differ"));
  EXPECT_GT(value(path_kl(unequal, 5)), exact_kl(unequal, 5).value.value());
  LinearChainPair silent = kGolden;
  silent.p.step_noise = silent.q.step_noise = Isotropic{0.0, 1};
  EXPECT_TRUE(says(path_kl(silent, 5), "singular"));
  EXPECT_TRUE(says(best_contractive_bound(silent, 5).bound, "singular"));
  LinearChainPair half = kGolden;
  half.p.step_noise = Isotropic{0.0, 1};
  EXPECT_TRUE(says(path_kl(half, 5), "singular"));
  LinearChainPair unstable = kGolden;
  unstable.p = scalar(100, 1, 1, .1);
  EXPECT_TRUE(
      says(path_kl({unstable.p, point(.5), scalar(1, 0, 1, .1), point(.5)}, 1e5), "overflows"));
}

TEST(LinearChain, ExpansiveStepsFallBackToTheChainRule) {
  LinearChainPair pair = kGolden;
  pair.q = scalar(30, .3, .1, .1);  // 1 - eta l = -2
  const ChainContractiveBound best = best_contractive_bound(pair, 5);
  EXPECT_DOUBLE_EQ(best.lipschitz, 2.0);
  EXPECT_EQ(best.used, 1.0);
  EXPECT_LE(value(best.bound), value(path_kl(pair, 5)) * (1 + 1e-14));
  ASSERT_EQ(best.bound.kl.assumptions.size(), 1U);
  EXPECT_NE(best.bound.kl.assumptions[0].find("not contractive"), std::string::npos);
  EXPECT_TRUE(says(best_contractive_bound(pair, kInf).bound, "does not contract"));
}

TEST(LinearChain, DifferentLearningRates) {
  LinearChainPair pair = kGolden;
  pair.q.learning_rate = 0.2;
  EXPECT_GE(value(best_contractive_bound(pair, 20).bound), exact_kl(pair, 20).value.value());
  EXPECT_GE(value(path_kl(pair, 20)), exact_kl(pair, 20).value.value());
}

TEST(LinearChain, Refusals) {
  EXPECT_THROW((void)path_kl(kGolden, -1), InvalidArgument);
  EXPECT_THROW((void)path_kl(kGolden, 1.5), InvalidArgument);
  EXPECT_THROW((void)chain_contractive_bound(kGolden, 1.5, 3), InvalidArgument);
  EXPECT_THROW((void)best_contractive_bound(kGolden, std::nan("")), InvalidArgument);
  LinearChainPair sizes = kGolden;
  sizes.q = {MatrixXd::Identity(2, 2), VectorXd::Zero(2), .1, Isotropic{.1, 2}};
  sizes.start_q = point_distribution(VectorXd::Zero(2));
  EXPECT_THROW((void)path_kl(sizes, 3), InvalidArgument);
}

/// A loss that is given by its curvature and its minimiser: the pull is rounded from them.
LinearChain around(double rate, double target, double eta, double variance) {
  LinearChain chain = scalar(rate, target, eta, variance);
  chain.given = std::make_shared<const GivenLoss>(
      MatrixGiven{chain.curvature, chain.pull, VectorXd::Constant(1, target)});
  return chain;
}

TEST(LinearChain, BoundsOfNearlyEqualLossesAreNotBelowTheTruth) {
  // After one step from 0 both distributions are normal with variance S, and their means differ by eta (A - A') x*:
  // KL = (eta (A - A') x*)^2 / (2 S), here in long double. The pulls share nearly all their digits.
  double worst = 1.0;
  for (int k = 0; k < 200; ++k) {
    const double rate = 5.765625 + 0.01 * k, target = -0.010744620016332836 * (1 + k);
    const double other = rate * (1.0 + 8e-7 / (1 + k * k));
    const double eta = 0.0017344159630421044, variance = eta;
    const LinearChainPair pair{around(rate, target, eta, variance), point(0),
                               around(other, target, eta, variance), point(0)};
    const long double gap = static_cast<long double>(eta) *
                            (static_cast<long double>(rate) - static_cast<long double>(other)) *
                            static_cast<long double>(target);
    const auto truth = static_cast<double>(gap * gap / (2.0L * static_cast<long double>(variance)));
    EXPECT_GE(value(path_kl(pair, 1)), truth);
    EXPECT_GE(value(best_contractive_bound(pair, 1).bound), truth);
    worst = std::max(worst, value(path_kl(pair, 1)) / truth);
  }
  EXPECT_LT(worst, 1.0 + 1e-12);
}

}  // namespace
}  // namespace sfumato
