#include "sfumato/divergence/likelihood_ratio.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sfumato {
namespace {

TEST(LogLikelihoodRatio, IsTheDifferenceOfLogDensities) {
  const GaussianDistribution p{Eigen::VectorXd::Constant(1, 1.0), Isotropic{4.0, 1}};
  const GaussianDistribution q{Eigen::VectorXd::Constant(1, -1.0), Isotropic{1.0, 1}};
  const auto log_density = [](double x, double mean, double variance) {
    return -0.5 * (x - mean) * (x - mean) / variance - 0.5 * std::log(variance);
  };
  for (const double x : {-3.0, 0.0, 2.5}) {
    EXPECT_NEAR(LogLikelihoodRatio(p, q)(Eigen::VectorXd::Constant(1, x)),
                log_density(x, 1.0, 4.0) - log_density(x, -1.0, 1.0), 1e-14);
  }
}

TEST(LogLikelihoodRatio, DoesNotDependOnCoordinates) {
  Eigen::MatrixXd a(2, 2), t(2, 2);
  a << 2.0, 0.3, 0.3, 1.0;
  t << 1.0, 2.0, -0.5, 3.0;
  const Eigen::VectorXd m = Eigen::Vector2d(0.2, -1.0), x = Eigen::Vector2d(1.0, 0.4);
  const GaussianDistribution p{m, Dense{a}}, q{Eigen::VectorXd::Zero(2), Isotropic{0.7, 2}};
  const GaussianDistribution tp{t * m, Dense{t * a * t.transpose()}};
  const GaussianDistribution tq{Eigen::VectorXd::Zero(2), Dense{0.7 * t * t.transpose()}};
  EXPECT_NEAR(LogLikelihoodRatio(p, q)(x), LogLikelihoodRatio(tp, tq)(t * x), 1e-12);
  EXPECT_EQ(LogLikelihoodRatio(p, p)(x), 0.0);
}

TEST(LogLikelihoodRatio, NeedsDensitiesOfOneDimension) {
  const GaussianDistribution p{Eigen::VectorXd::Zero(2), Isotropic{1.0, 2}};
  const GaussianDistribution point{Eigen::VectorXd::Zero(2), Isotropic{0.0, 2}};
  const GaussianDistribution line{Eigen::VectorXd::Zero(1), Isotropic{1.0, 1}};
  EXPECT_THROW(LogLikelihoodRatio(p, point), NumericalFailure);
  EXPECT_THROW(LogLikelihoodRatio(p, line), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
