#include "sfumato/sde/step_noise.hpp"

#include <gtest/gtest.h>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

using Eigen::Matrix2d;

/// Of variances 1e6 and 1, with this correlation.
Covariance correlated(double correlation) {
  return Dense{(Matrix2d() << 1e6, 1e3 * correlation, 1e3 * correlation, 1.0).finished()};
}

TEST(StepNoise, IsSigmaTimesTheLearningRate) {
  EXPECT_EQ(std::get<Isotropic>(step_noise(Isotropic{3.0, 2}, 0.1)).variance, 0.1 * 3.0);
  const Covariance step = step_noise(correlated(0.5), 0.1);
  EXPECT_EQ(dense(step)(0, 1), 0.1 * 500.0);
}

TEST(StepNoise, RoundingThatWouldBeSeenIsRefused) {
  const Covariance narrow = correlated(1.0 - 1e-11);  // 5e-12 of the variances is left: 1e-5 of it
  EXPECT_THROW((void)step_noise(narrow, 0.1), NumericalFailure);
  EXPECT_EQ(dense(step_noise(narrow, 0.125))(0, 0), 125000.0);  // nothing is rounded
  EXPECT_NO_THROW((void)step_noise(correlated(1.0 - 1e-8), 0.1));
}

TEST(StepNoise, NoiseThatMissesADirectionIsScaledAsItIs) {
  EXPECT_NO_THROW((void)step_noise(correlated(1.0), 0.1));
}

}  // namespace
}  // namespace sfumato
