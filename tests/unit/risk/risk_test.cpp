#include "sfumato/risk/risk.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/gdp.hpp"

namespace sfumato {
namespace {

using Eigen::VectorXd;

WhitenedPair pair_of(double mean_q, double var_q) {
  return whiten(VectorXd::Zero(1), Isotropic{1.0, 1}, VectorXd::Constant(1, mean_q),
                Isotropic{var_q, 1});
}

TEST(Risk, EqualVariancesAreGaussianDifferentialPrivacyOfThisPair) {
  const Risk risk = Risk::exact(pair_of(1.0, 1.0));
  EXPECT_DOUBLE_EQ(risk.kl(Direction::forward).value.value(), 0.5);
  EXPECT_DOUBLE_EQ(risk.kl(Direction::reverse).value.value(), 0.5);
  EXPECT_DOUBLE_EQ(risk.advantage().value, gdp_delta(1.0, 0.0).delta);
  EXPECT_DOUBLE_EQ(risk.delta(Epsilon(0.5)).value.probability(), gdp_delta(1.0, 0.5).delta);
  EXPECT_DOUBLE_EQ(risk.epsilon(Delta(1e-5)).value.nats(), gdp_epsilon(1.0, Delta(1e-5)).nats());
  EXPECT_DOUBLE_EQ(risk.renyi(Direction::forward, 3.0)->value.value(), 1.5);
  EXPECT_EQ(risk.advantage().claim, Claim::exact);
}

TEST(Risk, DirectionsDifferWhenVariancesDo) {
  const Risk risk = Risk::exact(pair_of(0.0, 4.0));
  // D||D': the loss is at most log 2; D'||D: it is unbounded.
  EXPECT_EQ(risk.delta(Direction::forward, Epsilon(0.7)).value.probability(), 0.0);
  EXPECT_GT(risk.delta(Direction::reverse, Epsilon(0.7)).value.probability(), 0.1);
  EXPECT_EQ(risk.delta(Epsilon(0.7)).value, risk.delta(Direction::reverse, Epsilon(0.7)).value);
  EXPECT_EQ(risk.epsilon(Delta(1e-3)).value, risk.epsilon(Direction::reverse, Delta(1e-3)).value);
}

TEST(Risk, MutuallySingularDistributionsAreCertain) {
  const Risk risk = Risk::exact(
      whiten(VectorXd::Zero(1), Isotropic{0.0, 1}, VectorXd::Ones(1), Isotropic{0.0, 1}));
  EXPECT_EQ(risk.kl(Direction::forward).value.value(), kInf);
  EXPECT_EQ(risk.advantage().value, 1.0);
  EXPECT_EQ(risk.delta(Epsilon(10.0)).value.probability(), 1.0);
  EXPECT_EQ(risk.epsilon(Delta(0.1)).value.nats(), kInf);
  EXPECT_EQ(risk.tpr(0.0).value, 1.0);
}

TEST(Risk, FromKlIsAnUpperBoundThatKeepsItsAssumptions) {
  const Claimed<Nats> kl{Nats(0.5), Claim::upper_bound, "path bound", {"common start"}};
  const Risk risk = Risk::from_kl(kl, kl);
  EXPECT_EQ(risk.advantage().claim, Claim::upper_bound);
  EXPECT_EQ(risk.advantage().assumptions.back(), "common start");
  EXPECT_EQ(risk.kl(Direction::reverse).method, "path bound");
  EXPECT_FALSE(risk.renyi(Direction::forward, 2.0).has_value());
}

TEST(Risk, FromKlUsesTheBetterDirection) {
  const Claimed<Nats> small{Nats(0.01)};
  const Claimed<Nats> large{Nats(kInf)};
  const Risk risk = Risk::from_kl(small, large);
  EXPECT_LT(risk.advantage().value, 0.08);
  // A KL in one direction alone never gives a small delta in the other (Spec §4.2).
  EXPECT_GE(risk.delta(Direction::reverse, Epsilon(50.0)).value.probability(), -std::expm1(-0.01));
}

TEST(Risk, FromKlRefusesEstimates) {
  const Claimed<Nats> exact{Nats(0.1)};
  const Claimed<Nats> estimate{Nats(0.1), Claim::estimate};
  const Claimed<Nats> lower{Nats(0.1), Claim::lower_bound};
  EXPECT_THROW((void)Risk::from_kl(exact, estimate), InvalidArgument);
  EXPECT_THROW((void)Risk::from_kl(lower, exact), InvalidArgument);
}

TEST(Risk, FromGdpBoundsEveryViewByTheShiftedNormals) {
  const Risk risk = Risk::from_gdp({1.0, Claim::upper_bound, "uniform sensitivity", {"all x"}});
  EXPECT_DOUBLE_EQ(risk.kl(Direction::reverse).value.value(), 0.5);
  // A bound, moved up by what its integral may lack.
  EXPECT_GE(risk.delta(Epsilon(0.5)).value.probability(), gdp_delta(1.0, 0.5).delta);
  EXPECT_NEAR(risk.delta(Epsilon(0.5)).value.probability(), gdp_delta(1.0, 0.5).delta, 1e-6);
  EXPECT_EQ(risk.delta(Epsilon(0.5)).claim, Claim::upper_bound);
  EXPECT_EQ(risk.epsilon(Delta(1e-5)).assumptions.back(), "all x");
  EXPECT_EQ(risk.advantage().method, "uniform sensitivity");
  EXPECT_EQ(Risk::from_gdp({0.0}).advantage().value, 0.0);
  EXPECT_EQ(Risk::from_gdp({kInf}).advantage().value, 1.0);
  EXPECT_EQ(Risk::from_gdp({kInf}).kl(Direction::forward).value.value(), kInf);
  EXPECT_THROW((void)Risk::from_gdp({-1.0}), InvalidArgument);
  EXPECT_THROW((void)Risk::from_gdp({1.0, Claim::estimate}), InvalidArgument);
}

TEST(Risk, BestOfTakesTheSmallestNumberInEachView) {
  const Claimed<Nats> kl{Nats(0.3), Claim::upper_bound, "path bound"};
  const Risk best = Risk::best_of({Risk::from_kl(kl, kl), Risk::from_gdp({1.0})});
  EXPECT_EQ(best.kl(Direction::forward).method, "path bound");  // 0.3 against 1/2
  EXPECT_DOUBLE_EQ(best.epsilon(Delta(1e-5)).value.nats(), gdp_epsilon(1.0, Delta(1e-5)).nats());
  EXPECT_TRUE(best.renyi(Direction::forward, 2.0).has_value());
  EXPECT_THROW((void)Risk::best_of({}), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
