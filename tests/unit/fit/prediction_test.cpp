#include "sfumato/fit/prediction.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

TEST(AveragedNoise, IsItsDoubleSum) {
  for (const double a : {0.0, 0.7, -0.4, 1.0}) {
    for (const double last : {1.0, 5.0, 12.0}) {
      constexpr double kSteps = 12.0;
      double expected = 0.0;
      for (double i = 1.0; i <= kSteps; ++i) {
        double inner = 0.0;
        for (double t = std::max(i, kSteps - last + 1.0); t <= kSteps; ++t) {
          inner += std::pow(a, t - i) / last;
        }
        expected += inner * inner;
      }
      EXPECT_NEAR(averaged_noise(a, kSteps, last), expected, 1e-13 * (1.0 + expected)) << a;
    }
  }
}

TEST(PredictedExcessLoss, OfManyNoiselessStepsIsNothing) {
  const Eigen::VectorXd eigenvalues = Eigen::Vector3d(1.0, 0.5, 0.25);
  const Eigen::VectorXd optimum = Eigen::Vector3d(1.0, -2.0, 3.0);
  DescentShape shape{DescentMetric::isotropic, 0.0, 1.0, 400.0, 1.0, 0.0, 1.0, 1000.0};
  EXPECT_LT(predicted_excess_loss(eigenvalues, optimum, shape).total(), 1e-20);
  // One step of a descent that has not moved leaves half the signal's variance.
  shape.learning_rate = 1e-12;
  shape.steps = 1.0;
  const double signal = (eigenvalues.array() * optimum.array().square()).sum();
  EXPECT_NEAR(predicted_excess_loss(eigenvalues, optimum, shape).bias, 0.5 * signal, 1e-9);
  shape.average_last = 2.0;
  EXPECT_THROW((void)predicted_excess_loss(eigenvalues, optimum, shape), InvalidArgument);
}

TEST(WhiteningGain, IsOneWhereAllDirectionsAreAlike) {
  const WhiteningGain gain = whitening_gain(Eigen::VectorXd::Constant(4, 0.3), 0.0, 0.0);
  EXPECT_NEAR(gain.resolved, 1.0, 1e-14);
  EXPECT_NEAR(gain.shape, 1.0, 1e-14);
  EXPECT_NEAR(gain.effective_dim, 4.0, 1e-14);
  EXPECT_GT(whitening_gain(Eigen::Vector3d(1.0, 0.1, 0.01), 0.0, 0.3).resolved, 10.0);
}

TEST(StatisticsScale, MinimisesWhatItIsFor) {
  // The noise of x y with rows (x, c y) of squared bound R^2 + c^2 Y^2: (R^2 + c^2 Y^2) sqrt(t^2 + 1 / c^2), at its least.
  const double r = 2.0, y = 3.0, t = 0.8;
  const auto cost = [&](double c) {
    return (r * r + c * c * y * y) * std::sqrt(t * t + 1.0 / (c * c));
  };
  const StatisticsScale found = statistics_scale(r, y, t);
  EXPECT_NEAR(found.bound_square, r * r + found.scale * found.scale * y * y, 1e-12);
  EXPECT_LE(cost(found.scale), cost(1.02 * found.scale) * (1.0 + 1e-4));
  EXPECT_LE(cost(found.scale), cost(0.98 * found.scale) * (1.0 + 1e-4));
}

}  // namespace
}  // namespace sfumato
