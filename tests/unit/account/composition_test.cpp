#include "sfumato/account/accountant/composition.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

using enum NeighbouringRelation;

PrivateReleases with(NeighbouringRelation relation, const std::vector<PrivateRelease>& list) {
  PrivateReleases releases{relation};
  releases.list = list;
  return releases;
}

TEST(Composition, EveryRelationHasItsDirections) {
  EXPECT_EQ(directions_of(add_remove), (std::vector{StepDirection::remove, StepDirection::add}));
  EXPECT_EQ(directions_of(zero_out), directions_of(add_remove));
  EXPECT_EQ(directions_of(replace_one), std::vector{StepDirection::replace});
}

TEST(Composition, FullBatchesAreOneNormalLossAndSampledOnesAreSteps) {
  const PrivateRelease full{GaussianNoise{2.0}, Sampler::full, 1.0, 9};
  const PrivateRelease sampled{GaussianNoise{0.5}, Sampler::poisson, .01, 100};
  const TotalLoss loss = loss_of(with(add_remove, {full, sampled}), StepDirection::add);
  EXPECT_NEAR(loss.mu_squared, 9.0 / 4.0, 1e-14);
  ASSERT_EQ(loss.steps.size(), 1U);
  const auto& step = std::get<SampledGaussian>(loss.steps.front());
  EXPECT_EQ(step.q, .01);
  EXPECT_EQ(step.m, 2.0);
  EXPECT_EQ(step.k, 100.0);
  EXPECT_EQ(step.direction, StepDirection::add);
  // A record that is replaced moves a sum by two clips.
  EXPECT_NEAR(loss_of(with(replace_one, {full}), StepDirection::replace).mu_squared, 9.0, 1e-13);
}

TEST(Composition, EqualStepsAreOneKind) {
  const PrivateRelease sampled{GaussianNoise{1.0}, Sampler::poisson, .02, 7};
  const TotalLoss loss = loss_of(with(add_remove, {sampled, sampled}), StepDirection::remove);
  double count = 0.0;
  for (const StepLoss& step : loss.steps) count += count_of(step);
  EXPECT_EQ(count, 14.0);
}

TEST(Composition, RefusesWhatHasNoProof) {
  const PrivateRelease fixed{GaussianNoise{1.0}, Sampler::fixed_size, 1.0, 7};
  EXPECT_THROW((void)loss_of(with(add_remove, {fixed}), StepDirection::remove), InvalidArgument);
}

TEST(Composition, FullBatchesOfNormalNoiseAttainTheirPair) {
  const PrivateRelease full{GaussianNoise{2.0}, Sampler::full, 1.0, 9};
  EXPECT_TRUE(is_attained(with(add_remove, {full})));
  EXPECT_TRUE(attained_releases(with(add_remove, {full})));
}

}  // namespace
}  // namespace sfumato
