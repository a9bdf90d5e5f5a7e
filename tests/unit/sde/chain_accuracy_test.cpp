// Accuracy of a chain against its own distribution, and where there is no distribution.
#include <gtest/gtest.h>

#include "sfumato/core/infinity.hpp"
#include "sfumato/sde/chain_distribution.hpp"

namespace sfumato {
namespace {

using Eigen::Matrix2d;
using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::VectorXd;

ChainDistribution scalar(double curvature, double eta, double variance, double mean) {
  return ChainDistribution(
      {MatrixXd::Constant(1, 1, curvature), VectorXd::Zero(1), eta, Isotropic{variance, 1}},
      point_distribution(VectorXd::Constant(1, mean)));
}

TEST(ChainAccuracy, AgreesWithTheDistribution) {
  const MatrixXd a = (Matrix2d() << 2, .5, .5, 1).finished();
  const MatrixXd s = (Matrix2d() << .2, .05, .05, .1).finished();
  const MatrixXd v = (Matrix2d() << .3, -.1, -.1, .4).finished();
  const VectorXd x = Vector2d(1, -1);
  for (const double eta : {.2, .8}) {  // the second overshoots
    const ChainDistribution chain({a, a * x, eta, Dense{s}}, {Vector2d(3, 2), Dense{v}});
    for (const double steps : {0.0, 1.0, 2.0, 9.0, 1e6, kInf}) {
      const GaussianDistribution distribution = chain.at(steps);
      const VectorXd gap = distribution.mean - x;
      const MatrixXd second = dense(distribution.covariance) + gap * gap.transpose();
      EXPECT_NEAR(chain.error(steps, x), second.trace(), 1e-13 * second.trace()) << steps;
      EXPECT_NEAR(chain.excess_loss(steps), .5 * (a * second).trace(), 1e-13 * second.trace());
    }
  }
}

TEST(ChainAccuracy, EdgesOfStability) {
  const VectorXd origin = VectorXd::Zero(1);
  EXPECT_EQ(scalar(20, .1, 0, 3).error(kInf, origin), 9.0);  // 1 - eta l = -1: to and fro for ever
  EXPECT_EQ(scalar(20, .1, 1, 3).error(7, origin), 16.0);
  EXPECT_EQ(scalar(20, .1, 1, 3).error(kInf, origin), kInf);
  EXPECT_EQ(scalar(30, .1, 0, 3).error(2, origin), 144.0);
  EXPECT_EQ(scalar(30, .1, 0, 3).error(kInf, origin), kInf);
  EXPECT_EQ(scalar(30, .1, 0, 0).error(kInf, origin), 0.0);
  EXPECT_EQ(scalar(0, .1, 1, 3).excess_loss(kInf), 0.0);
  EXPECT_EQ(scalar(10, .1, .5, 3).error(1, origin), .5);  // one step to the minimiser
}

TEST(ChainAccuracy, Refusals) {
  const ChainDistribution chain = scalar(1, .1, 1, 0);
  EXPECT_THROW((void)chain.error(1.5, VectorXd::Zero(1)), InvalidArgument);
  EXPECT_THROW((void)chain.error(1, VectorXd::Zero(2)), InvalidArgument);
  EXPECT_THROW((void)chain.excess_loss(-1), InvalidArgument);
  EXPECT_THROW((void)scalar(1, 0, 1, 0), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
