#include "reproduce/figure3.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/random_pairs.hpp"

namespace sfumato::apps {
namespace {

using Eigen::Vector2d;

// 1,000 noises for each of 14 pairs: none with the error of the optimum has a lower KL, in either
// direction (Spec §14.7). KLs here are good to about 1e-13 of their value.
TEST(GainAtEqualError, NoNoiseOfTheSameErrorDoesBetter) {
  constexpr std::uint64_t seed = 133;
  testing::RandomPairs random(seed);
  for (const QuadraticDifference difference : kQuadraticDifferences) {
    for (const double condition : kFigure3Conditions) {
      const QuadraticPair pair = quadratic_pair(difference, condition);
      const EqualErrorGain forward = gain_at_equal_error(pair, kFigure3Error, Direction::forward);
      const EqualErrorGain reverse = gain_at_equal_error(pair, kFigure3Error, Direction::reverse);
      for (int i = 0; i < 1000; ++i) {
        // Half of them anywhere, half of them near an end.
        const double share = i % 2 == 0 ? random.uniform(0.0, 1.0) : random.log_uniform(1e-6, 1.0);
        const double sharp = i % 4 < 2 ? share : 1.0 - share;
        const Vector2d noise(2.0 * condition * kFigure3Error * sharp,
                             2.0 * kFigure3Error * (1.0 - sharp));
        const NoiseEffect effect = noise_effect(pair, noise);
        const auto where = ::testing::Message()
                           << "seed " << seed << ", case " << i << ": " << name(difference) << " "
                           << condition << ", noise " << noise.transpose();
        ASSERT_NEAR(effect.error, kFigure3Error, 1e-12) << where;
        ASSERT_GE(effect.kl_forward, forward.kl_best * (1.0 - 1e-11)) << where;
        ASSERT_GE(effect.kl_reverse, reverse.kl_best * (1.0 - 1e-11)) << where;
      }
    }
  }
}

// Any condition number and error: the optimum has the error asked for, is no worse than isotropic
// noise, and agrees with the closed form where there is one.
TEST(GainAtEqualError, AgreesWithTheClosedFormForRandomProblems) {
  constexpr std::uint64_t seed = 134;
  testing::RandomPairs random(seed);
  for (int i = 0; i < 1000; ++i) {
    const double condition = random.log_uniform(0.5, 1e4);
    const auto difference = kQuadraticDifferences[static_cast<std::size_t>(random.integer(0, 6))];
    const double error = random.log_uniform(1e-3, 1e3);
    const QuadraticPair pair = quadratic_pair(difference, condition);
    const EqualErrorGain got = gain_at_equal_error(pair, error, Direction::forward);
    const auto where = ::testing::Message()
                       << "seed " << seed << ", case " << i << ": " << name(difference) << " "
                       << condition << ", error " << error;
    ASSERT_GE(got.gain, 1.0) << where;
    ASSERT_NEAR(noise_effect(pair, got.best_variances).error, error, 1e-11 * error) << where;
    if (const auto formula = stationary_gain(pair, error)) {
      ASSERT_NEAR(got.gain, *formula, 1e-7 * *formula) << where;
    }
  }
}

}  // namespace
}  // namespace sfumato::apps
