#include "sfumato/account/steps/allocated_gaussian.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/account/accountant/accountant.hpp"
#include "sfumato/account/accountant/calibrate.hpp"
#include "sfumato/account/accountant/profile.hpp"
#include "sfumato/account/steps/step.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

TotalLoss loss_of_epochs(double t, double sigma, double epochs, StepDirection direction) {
  TotalLoss loss;
  loss.steps.push_back(AllocatedGaussian{t, 1.0 / sigma, epochs, direction});
  return loss;
}

Accountant accountant(double sigma, std::uint64_t t, std::uint64_t epochs,
                      std::uint64_t turns = 1) {
  Accountant all(NeighbouringRelation::add_remove);
  PrivateRelease release{GaussianNoise{sigma}, Sampler::allocate, 1.0, epochs};
  release.batches = t;
  release.turns = turns;
  all.compose(release);
  return all;
}

bool meet(const LogEnclosure& a, const LogEnclosure& b) {
  return a.log_lo <= b.log_hi && b.log_lo <= a.log_hi;
}

TEST(AllocatedGaussian, AdvantageIsThatOfBothDirections) {
  for (const double t : {2.0, 30.0, 400.0}) {
    const auto remove = delta_of(loss_of_epochs(t, 0.8, 3.0, StepDirection::remove), 0.0);
    const auto add = delta_of(loss_of_epochs(t, 0.8, 3.0, StepDirection::add), 0.0);
    EXPECT_TRUE(meet(remove.log, add.log)) << t;
    EXPECT_LT(remove.log.log_hi - remove.log.log_lo, 1e-7) << t;
  }
}

TEST(AllocatedGaussian, ExchangedPairHasTheSameCurve) {
  const TotalLoss remove = loss_of_epochs(50.0, 1.0, 4.0, StepDirection::remove);
  const TotalLoss add = loss_of_epochs(50.0, 1.0, 4.0, StepDirection::add);
  for (const double eps : {0.1, 0.5}) {
    const double lo = delta_of(add, -eps).lo(), hi = delta_of(add, -eps).hi();
    const double there = delta_of(remove, eps).hi();
    const double mirrored = -std::expm1(-eps) + std::exp(-eps) * there;
    EXPECT_GE(mirrored, lo * (1.0 - 1e-12)) << eps;
    EXPECT_LE(mirrored, hi * (1.0 + 1e-8)) << eps;
  }
}

TEST(AllocatedGaussian, DeltaFallsWithBatchesAndNoise) {
  double before = 1.0;
  for (const double t : {1.0, 2.0, 5.0, 40.0, 41.0, 1000.0, 1e5}) {
    const DeltaEnclosure found = delta_of(loss_of_epochs(t, 0.9, 2.0, StepDirection::remove), 1.0);
    EXPECT_LE(found.lo(), before) << t;
    before = found.hi();
  }
}

TEST(AllocatedGaussian, SplittingTheEpochsChangesNothing) {
  TotalLoss split = loss_of_epochs(20.0, 1.2, 3.0, StepDirection::remove);
  split.steps.push_back(AllocatedGaussian{20.0, 1.0 / 1.2, 4.0, StepDirection::remove});
  const TotalLoss whole = loss_of_epochs(20.0, 1.2, 7.0, StepDirection::remove);
  for (const double eps : {0.2, 1.5}) {
    EXPECT_TRUE(meet(delta_of(split, eps).log, delta_of(whole, eps).log)) << eps;
  }
}

TEST(AllocatedGaussian, ComposesWithOtherReleases) {
  TotalLoss both = loss_of_epochs(20.0, 1.2, 3.0, StepDirection::remove);
  const DeltaEnclosure alone = delta_of(both, 0.5);
  both.mu_squared = 1e-20;
  const DeltaEnclosure beside = delta_of(both, 0.5);
  EXPECT_NEAR(beside.log.log_hi, alone.log.log_hi, 1e-6);
  both.steps.push_back(SampledGaussian{0.05, 0.8, 200.0, StepDirection::remove});
  EXPECT_GT(delta_of(both, 0.5).lo(), alone.hi());
}

TEST(AllocatedGaussian, ExtremesHaveBounds) {
  // Next to no noise, next to no signal, more batches than a contour reaches: the bound of fewer batches, and nothing from below.
  for (const auto& [t, sigma, epochs] :
       {std::tuple{100.0, 0.01, 1.0}, {100.0, 1e-6, 2.0}, {1e9, 1.0, 1.0}, {10.0, 1e12, 5.0}}) {
    const DeltaEnclosure found =
        delta_of(loss_of_epochs(t, sigma, epochs, StepDirection::remove), 0.5);
    const DeltaEnclosure unsampled =
        delta_of(loss_of_epochs(1.0, sigma, epochs, StepDirection::remove), 0.5);
    EXPECT_LE(found.lo(), found.hi());
    EXPECT_LE(found.hi(), unsampled.hi() * (1.0 + 1e-9)) << t << " " << sigma;
  }
}

TEST(AllocatedGaussian, AccountsForEpochs) {
  const Enclosure epsilon = accountant(1.0, 100, 10).epsilon(Delta(1e-5));
  EXPECT_LE(epsilon.lower.value, 1.7014984358 * (1.0 + 1e-9));
  EXPECT_GE(epsilon.upper.value, 1.7014984358 * (1.0 - 1e-9));
  EXPECT_LT(epsilon.upper.value - epsilon.lower.value, 1e-8);
  EXPECT_EQ(
      accountant(1.0, 1, 10).epsilon(Delta(1e-5)).upper.value,
      Accountant(
          {NeighbouringRelation::add_remove, 1, {{GaussianNoise{1.0}, Sampler::full, 1.0, 10}}})
          .epsilon(Delta(1e-5))
          .upper.value);
}

TEST(AllocatedGaussian, SeveralTurnsCostMoreThanOneAndLessThanEpochs) {
  const double one = accountant(1.0, 60, 2).epsilon(Delta(1e-5)).upper.value;
  const Enclosure two = accountant(1.0, 60, 2, 2).epsilon(Delta(1e-5));
  const double epochs = accountant(1.0, 30, 4).epsilon(Delta(1e-5)).upper.value;
  EXPECT_GT(two.upper.value, one);
  EXPECT_NEAR(two.upper.value, epochs, 1e-9);  // two blocks of 30 in each of two epochs
  EXPECT_EQ(two.lower.value, 0.0);             // a bound: no pair attains it
}

TEST(AllocatedGaussian, FindsNoiseEpochsAndBatches) {
  const PrivacyTarget target = PrivacyBudget{Epsilon(2.0), Delta(1e-5)};
  PrivateRelease run{GaussianNoise{1.0}, Sampler::allocate, 1.0, 10};
  run.batches = 100;
  const PrivateReleases none{NeighbouringRelation::add_remove};
  const double noise = least_noise(none, {run}, target);
  EXPECT_LE(accountant(noise, 100, 10).epsilon(Delta(1e-5)).upper.value, 2.0);
  EXPECT_GT(accountant(noise * 0.999, 100, 10).epsilon(Delta(1e-5)).upper.value, 2.0);
  const std::uint64_t epochs = most_steps(none, run, target);
  EXPECT_LE(accountant(1.0, 100, epochs).epsilon(Delta(1e-5)).upper.value, 2.0);
  EXPECT_GT(accountant(1.0, 100, epochs + 1).epsilon(Delta(1e-5)).upper.value, 2.0);
  const std::uint64_t batches = least_batches(none, run, target);
  EXPECT_LE(accountant(1.0, batches, 10).epsilon(Delta(1e-5)).upper.value, 2.0);
  EXPECT_GT(accountant(1.0, batches - 1, 10).epsilon(Delta(1e-5)).upper.value, 2.0);
}

TEST(AllocatedGaussian, RefusesWhatHasNoProof) {
  const auto release = [](std::uint64_t batches, std::uint64_t turns) {
    PrivateRelease run{GaussianNoise{1.0}, Sampler::allocate, 1.0, 10};
    run.batches = batches;
    run.turns = turns;
    return run;
  };
  Accountant plain(NeighbouringRelation::add_remove);
  EXPECT_THROW(plain.compose(release(0, 1)), InvalidArgument);
  EXPECT_THROW(plain.compose(release(3, 4)), InvalidArgument);
  EXPECT_THROW(Accountant(NeighbouringRelation::replace_one).compose(release(3, 1)),
               InvalidArgument);
  EXPECT_THROW(Accountant(NeighbouringRelation::add_remove, 2).compose(release(3, 1)),
               InvalidArgument);
  plain.compose(release(3, 1));
  EXPECT_THROW((void)plain.delta_by_fft(Epsilon(1.0)), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
