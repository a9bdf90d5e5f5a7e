#include "sfumato/sde/gaussian_distribution.hpp"

#include <gtest/gtest.h>

namespace sfumato {
namespace {

TEST(GaussianDistribution, PointDistributionsAreSingularUnlessEqual) {
  const GaussianDistribution origin = point_distribution(Eigen::Vector2d(0, 0));
  EXPECT_EQ(trace(origin.covariance), 0.0);
  EXPECT_FALSE(whiten(origin, origin).mutually_singular);
  EXPECT_TRUE(whiten(origin, point_distribution(Eigen::Vector2d(0, 1))).mutually_singular);
}

TEST(GaussianDistribution, WhitenTakesTheFirstDistributionAsTheUnit) {
  const GaussianDistribution p{Eigen::VectorXd::Constant(1, 1.0), Isotropic{4.0, 1}};
  const GaussianDistribution q{Eigen::VectorXd::Constant(1, 5.0), Isotropic{12.0, 1}};
  const WhitenedPair pair = whiten(p, q);
  EXPECT_DOUBLE_EQ(pair.shift(0), 2.0);
  EXPECT_DOUBLE_EQ(pair.excess(0), 2.0);
}

TEST(GaussianDistribution, SameDistribution) {
  const GaussianDistribution distribution{Eigen::Vector2d(1, 2), Isotropic{1.0, 2}};
  EXPECT_TRUE(
      same_distribution(distribution, {Eigen::Vector2d(1, 2), Diagonal{Eigen::Vector2d(1, 1)}}));
  EXPECT_FALSE(same_distribution(distribution, {Eigen::Vector2d(1, 2.5), Isotropic{1.0, 2}}));
  EXPECT_FALSE(same_distribution(distribution, {Eigen::Vector2d(1, 2), Isotropic{1.1, 2}}));
}

TEST(GaussianDistribution, MeanSquaredDistance) {
  const GaussianDistribution distribution{Eigen::Vector2d(3, 4),
                                          Diagonal{Eigen::Vector2d(0.5, 1.5)}};
  EXPECT_DOUBLE_EQ(mean_squared_distance(distribution, Eigen::Vector2d(0, 0)), 27.0);
  EXPECT_DOUBLE_EQ(mean_squared_distance(distribution, Eigen::Vector2d(0, 0), 1.0), 38.0);
}

}  // namespace
}  // namespace sfumato
