// Noise and steps for a target: always on the safe side, and near it (Spec §20.1).
#include "sfumato/account/accountant/calibrate.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/account/accountant/accountant.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

using enum NeighbouringRelation;

PrivateRelease step(double rate, std::uint64_t steps, double multiplier = 1.0) {
  return {GaussianNoise{multiplier}, Sampler::poisson, rate, steps};
}

TEST(Calibrate, LeastNoiseIsTheReferenceFromAbove) {
  const double found =
      least_noise({add_remove}, {step(.04, 2250)}, PrivacyBudget{Epsilon(8), Delta(1e-5)});
  EXPECT_GE(found, 1.345898329379128556270);
  EXPECT_LE(found, 1.345898329379128556270 * (1 + 1e-8));
  EXPECT_TRUE(
      meets({add_remove, 1, {step(.04, 2250, found)}}, PrivacyBudget{Epsilon(8), Delta(1e-5)}));
}

TEST(Calibrate, MostStepsIsTheReference) {
  EXPECT_EQ(most_steps({add_remove}, step(.01, 1), PrivacyBudget{Epsilon(3), Delta(1e-6)}), 2061u);
  EXPECT_EQ(most_steps({add_remove}, step(1.0, 1, 0.1), PrivacyBudget{Epsilon(1), Delta(1e-6)}),
            0u);
  EXPECT_EQ(most_steps({add_remove}, step(0.0, 1), PrivacyBudget{Epsilon(1), Delta(1e-6)}),
            std::uint64_t{1} << 53);
}

TEST(Calibrate, OtherTargets) {
  const double advantage = least_noise({add_remove}, {step(.01, 1000)}, AdvantageLimit{0.05});
  Accountant accountant(add_remove);
  accountant.compose(step(.01, 1000, advantage));
  EXPECT_LE(accountant.advantage().upper.value, 0.05);
  EXPECT_NEAR(accountant.advantage().upper.value, 0.05, 1e-9);
  const double rate = least_noise({add_remove}, {step(.01, 1000)}, RateLimit{0.02, 0.01});
  Accountant second(add_remove);
  second.compose(step(.01, 1000, rate));
  EXPECT_LE(second.tpr(0.01).upper.value, 0.02);
  EXPECT_NEAR(second.tpr(0.01).upper.value, 0.02, 1e-9);
  // mu holds for all epsilons, and then sampling does not help.
  EXPECT_NEAR(least_noise({add_remove}, {step(.01, 100)}, GdpLimit{2}), 5.0, 1e-8);
  EXPECT_NEAR(least_noise({replace_one}, {step(1, 100)}, GdpLimit{2}), 10.0, 1e-8);
}

TEST(Calibrate, WhatWasReleasedBeforeCounts) {
  const PrivacyBudget budget{Epsilon(3), Delta(1e-5)};
  const PrivateReleases before{add_remove, 1, {step(.01, 1000)}};
  const double alone = least_noise({add_remove}, {step(.01, 1000)}, budget);
  EXPECT_GT(least_noise(before, {step(.01, 1000)}, budget), alone);
  const PrivateReleases spent{add_remove, 1, {step(.5, 1000)}};
  EXPECT_THROW((void)least_noise(spent, {step(.01, 1000)}, budget), InvalidArgument);
}

TEST(Calibrate, RefusesTargetsThatNothingMeets) {
  EXPECT_THROW((void)least_noise({add_remove}, {step(.1, 1)}, PrivacyBudget{Epsilon(1), Delta(0)}),
               InvalidArgument);
  EXPECT_THROW((void)least_noise({add_remove}, {step(.1, 1)}, AdvantageLimit{0}), InvalidArgument);
  EXPECT_THROW((void)least_noise({add_remove}, {step(.1, 1)}, RateLimit{0.01, 0.01}),
               InvalidArgument);
  EXPECT_THROW((void)least_noise({add_remove}, {step(.1, 1)}, GdpLimit{0}), InvalidArgument);
  EXPECT_THROW((void)least_noise({add_remove}, {{HiddenIterates{1}}}, AdvantageLimit{0.1}),
               InvalidArgument);
}

TEST(Calibrate, NoNoiseWhereRecordsAreHardlyEverSeen) {
  EXPECT_EQ(least_noise({add_remove}, {step(1e-9, 10)}, PrivacyBudget{Epsilon(1), Delta(1e-5)}),
            0.0);
}

TEST(LeastNoise, EpsilonAtDeltaIsTheTarget) {
  for (const double target : {0.5, 1.0, 2.0, 3.0, 8.0}) {
    for (const double rate : {0.004, 0.01, 0.2}) {
      PrivateRelease run{GaussianNoise{1.0}, Sampler::poisson, rate, 1000};
      const PrivacyBudget budget{Epsilon(target), Delta(1e-5)};
      std::get<GaussianNoise>(run.mechanism).noise_multiplier =
          least_noise({NeighbouringRelation::add_remove}, {run}, budget);
      const Accountant found({NeighbouringRelation::add_remove, 1, {run}});
      EXPECT_LE(found.epsilon(Delta(1e-5)).upper.value, target) << target << " " << rate;
    }
  }
}

TEST(Epsilon, TheSmallerProvenNumberIsQuoted) {
  const Accountant all({NeighbouringRelation::add_remove,
                        1,
                        {{GaussianNoise{1e6}, Sampler::poisson, 1e-7, 1000000000}}});
  EXPECT_LE(all.epsilon(Delta(1e-300)).upper.value, all.renyi_epsilon(Delta(1e-300)).value.nats());
}

}  // namespace
}  // namespace sfumato
