#include "lab/nn/private_metric.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "lab/nn/gradient_moments.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato::lab {
namespace {

Network two_layers() {
  return Network({4, 1, 1}, {{"a", Linear{3}}, {"r", Relu{}}, {"b", Linear{2}}});
}

NoiseShape constant_shape(float variance) {
  return {std::make_shared<const std::vector<float>>(two_layers().parameter_count(), variance)};
}

/// One of each, with what it needs.
std::vector<TrainingMetric> one_of_each() {
  NoiseShape factored = constant_shape(0.5F);
  factored.factor = std::make_shared<const std::vector<std::vector<float>>>(
      1, std::vector<float>(two_layers().parameter_count(), 0.1F));
  InputMomentsMetric input;
  input.mu = 1.0;
  return {IsotropicMetric{},
          PerLayerMetric{{}, {0.3, 0.4}},
          WhitenedMetric{{}, constant_shape(0.5F)},
          LowRankMetric{{{}, factored}},
          ReleasedGradientsMetric{},
          input};
}

TEST(TrainingMetric, NoneShowsMoreThanOneOverTheMultiplier) {
  for (const TrainingMetric& metric : one_of_each()) {
    const PrivateNoise noise{0.5, 1.3, metric};
    EXPECT_NEAR(noise.contribution(two_layers()), 1.0 / 1.3, 1e-12) << name(metric);
    EXPECT_GE(noise.contribution(two_layers()), 1.0 / 1.3 * (1.0 - 1e-15)) << name(metric);
    EXPECT_EQ(noise.deviations(two_layers()).size(), two_layers().blocks().size());
  }
}

TEST(TrainingMetric, TheLeastNoiseIsWhatSinglePrecisionHasToHold) {
  const auto least = [](const TrainingMetric& metric) {
    return PrivateNoise{0.5, 2.0, metric}.least_deviation(two_layers());
  };
  EXPECT_EQ(least(IsotropicMetric{}), 1.0);
  EXPECT_NEAR(least(WhitenedMetric{{}, constant_shape(0.25F)}), 0.5, 1e-15);
  EXPECT_EQ(least(WhitenedMetric{{}, constant_shape(4.0F)}), 1.0);  // 1 is multiplied as well
  EXPECT_NEAR(least(ReleasedGradientsMetric{}), std::sqrt(GradientMoments::kLeastShape), 1e-15);
  EXPECT_TRUE(holds_variance(1e-18));
  EXPECT_FALSE(holds_variance(1e-20));
}

TEST(TrainingMetric, OnlyThoseThatLearnFollowWhatWasReleased) {
  for (const TrainingMetric& metric : one_of_each()) {
    const PrivateNoise noise{0.5, 1.0, metric};
    EXPECT_EQ(noise.learns(), name(metric) == "released");
    EXPECT_EQ(noise.follows(), name(metric) == "released" || name(metric) == "input");
    EXPECT_EQ(noise.shape() != nullptr, !noise.assumption().empty());
  }
}

TEST(NoiseShape, TheFactorAddsToTheVariances) {
  NoiseShape both = constant_shape(0.5F);
  both.factor = std::make_shared<const std::vector<std::vector<float>>>(
      2, std::vector<float>(two_layers().parameter_count(), 0.25F));
  EXPECT_EQ(constant_shape(0.5F).variance(3), 0.5);
  EXPECT_EQ(both.variance(3), 0.5 + 2.0 * 0.0625);
}

TEST(TrainingMetric, RefusesWhatHasNoMeaning) {
  const auto refused = [](const PrivateNoise& noise) {
    struct Refused {};
    const auto refuse = [](const std::string&, const std::string&) { throw Refused{}; };
    try {
      noise.require_valid(two_layers(), refuse);
    } catch (const Refused&) {
      return true;
    }
    return false;
  };
  for (const TrainingMetric& metric : one_of_each()) {
    EXPECT_FALSE(refused({0.5, 1.0, metric})) << name(metric);
    EXPECT_TRUE(refused({0.5, 0.0, metric})) << name(metric);
    // A clip of each layer needs no other.
    EXPECT_EQ(refused({0.0, 1.0, metric}), name(metric) != "per_layer") << name(metric);
  }
  EXPECT_TRUE(refused({0.5, 1.0, PerLayerMetric{{}, {0.3}}}));
  EXPECT_TRUE(refused({0.5, 1.0, WhitenedMetric{{}, constant_shape(0.0F)}}));
  EXPECT_TRUE(refused({0.5, 1.0, LowRankMetric{{{}, constant_shape(1.0F)}}}));  // without a factor
  EXPECT_TRUE(refused({0.5, 1.0, InputMomentsMetric{}}));                       // without a cost
}

TEST(LayerSplit, AttainsTheLeastObjective) {
  const std::vector<double> clips = {1.0, 2.0}, sizes = {10.0, 1000.0}, weights = {1.0, 1.0};
  const LayerSplit split = layer_split(clips, sizes, weights, 0.7);
  double objective = 0.0, mu_squared = 0.0;
  for (std::size_t l = 0; l < 2; ++l) {
    objective += sizes[l] * split.deviations[l] * split.deviations[l];
    mu_squared += std::pow(clips[l] / split.deviations[l], 2);
  }
  EXPECT_NEAR(objective, split.objective, 1e-9 * objective);
  EXPECT_NEAR(std::sqrt(mu_squared), 0.7, 1e-12);
  EXPECT_LT(split.objective, split.uniform_objective);
  EXPECT_THROW((void)layer_split(clips, {}, weights, 0.7), InvalidArgument);
}

TEST(OneStepShape, HasTheDimensionAsItsTrace) {
  const OneStepShape found = one_step_shape(std::vector{4.0, 1.0}, std::vector{1.0, 4.0});
  EXPECT_NEAR(found.variances[0] + found.variances[1], 2.0, 1e-14);
  EXPECT_NEAR(found.variances[1] / found.variances[0], 4.0, 1e-13);
  EXPECT_NEAR(found.gain, 25.0 / 16.0, 1e-13);
}

}  // namespace
}  // namespace sfumato::lab
