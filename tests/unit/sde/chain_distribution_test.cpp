// Values, edges and refusals of the linear chain of Spec §8; step by step in
// tests/property/divergence.
#include "sfumato/sde/chain_distribution.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/core/infinity.hpp"

namespace sfumato {
namespace {

using Eigen::Matrix2d;
using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::VectorXd;

LinearChain scalar(double rate, double pull, double eta, double variance) {
  return {MatrixXd::Constant(1, 1, rate), VectorXd::Constant(1, pull), eta, Isotropic{variance, 1}};
}
GaussianDistribution normal(double mean, double variance) {
  return {VectorXd::Constant(1, mean), Isotropic{variance, 1}};
}

TEST(ChainDistribution, GeometricSums) {
  EXPECT_EQ(geometric_sum(0.0, 5), 5.0);
  EXPECT_EQ(geometric_sum(1.0, 5), 1.0);
  EXPECT_EQ(geometric_sum(-HUGE_VAL, 1), 1.0);
  EXPECT_EQ(geometric_sum(-HUGE_VAL, 2), HUGE_VAL);
  EXPECT_DOUBLE_EQ(geometric_sum(0.5, 3), 1.75);
  EXPECT_DOUBLE_EQ(geometric_sum(1.5, 3), 0.75);  // ratio -1/2
  EXPECT_DOUBLE_EQ(geometric_sum(-1.0, 3), 7.0);  // ratio 2
  EXPECT_EQ(geometric_sum(2.0, 4), 0.0);          // ratio -1
  EXPECT_NEAR(geometric_sum(1e-18, 1e9), 1e9, 1.0);
  EXPECT_EQ(power_of_complement(1.0, 0), 1.0);
  EXPECT_EQ(power_of_complement(1.0, 3), 0.0);
  EXPECT_DOUBLE_EQ(power_of_complement(1.5, 3), -0.125);
  EXPECT_NEAR(power_of_complement(1e-9, 1e9), std::exp(-1.0), 1e-9);
}

TEST(ChainDistribution, OneParameter) {
  const ChainDistribution distribution(scalar(2, 2, .25, .3), normal(3, 1));
  EXPECT_EQ(distribution.at(0).mean(0), 3.0);
  EXPECT_DOUBLE_EQ(distribution.at(1).mean(0), 2.0);
  EXPECT_DOUBLE_EQ(distribution.at(2).mean(0), 1.5);
  EXPECT_DOUBLE_EQ(trace(distribution.at(1).covariance), .25 + .3);
  EXPECT_DOUBLE_EQ(trace(distribution.at(2).covariance), .25 * .55 + .3);
  EXPECT_DOUBLE_EQ(distribution.at(kInf).mean(0), 1.0);
  EXPECT_DOUBLE_EQ(trace(distribution.at(kInf).covariance), .4);
  EXPECT_DOUBLE_EQ(trace(distribution.at(1e9).covariance), .4);
  EXPECT_DOUBLE_EQ(distribution.displacement(2)(0), -1.5);
}

TEST(ChainDistribution, StationaryCovarianceSolvesItsEquation) {
  const MatrixXd a = (Matrix2d() << 2, .5, .5, 1).finished();
  const MatrixXd s = (Matrix2d() << .2, .05, .05, .1).finished();
  const ChainDistribution distribution({a, Vector2d(1, -1), .2, Dense{s}},
                                       point_distribution(Vector2d(1, 1)));
  const MatrixXd map = MatrixXd::Identity(2, 2) - .2 * a;
  const MatrixXd v = dense(distribution.at(kInf).covariance);
  EXPECT_LE((map * v * map + s - v).norm(), 1e-15);
  EXPECT_LE((a * distribution.at(kInf).mean - Vector2d(1, -1)).norm(), 1e-14);
  EXPECT_LE((dense(distribution.at(1e6).covariance) - v).norm(), 1e-14);
}

TEST(ChainDistribution, NoLongRunSaysWhy) {
  const auto reason = [](const LinearChain& chain) {
    return ChainDistribution(chain, normal(1, 1)).long_run().reason;
  };
  EXPECT_NE(reason(scalar(-1, 0, .1, 1)).find("runs away"), std::string::npos);
  EXPECT_NE(reason(scalar(20, 0, .1, 1)).find("runs away"), std::string::npos);  // exactly 2
  EXPECT_NE(reason(scalar(0, 0, .1, 1)).find("noise"), std::string::npos);
  EXPECT_NE(reason(scalar(0, 1, .1, 0)).find("gradient does not vanish"), std::string::npos);
  EXPECT_EQ(reason(scalar(0, 0, .1, 0)), "");
  EXPECT_EQ(trace(ChainDistribution(scalar(0, 0, .1, 0), normal(1, 1)).at(kInf).covariance), 1.0);
}

TEST(ChainDistribution, FlatDirectionsOfADenseCurvature) {
  const MatrixXd a = (Matrix2d() << 1, 1, 1, 1).finished();
  const ChainDistribution distribution({a, Vector2d(1, 1), .1, Isotropic{.5, 2}},
                                       point_distribution(Vector2d(2, -2)));
  const GaussianDistribution at = distribution.at(1000);
  EXPECT_NEAR(at.mean(0), 2.5, 1e-12);  // the flat direction (1, -1) keeps its mean
  EXPECT_NEAR(at.mean(1), -1.5, 1e-12);
  const Vector2d flat = Vector2d(1, -1).normalized();
  EXPECT_NEAR(flat.dot(dense(at.covariance) * flat), 500.0, 1e-9);
}

TEST(ChainDistribution, PairsKeepTheirDigitsNearTheStart) {
  const ChainDistribution p(scalar(1, 1e8, 1e-12, 1), normal(1e8, 0));
  const ChainDistribution q(scalar(1, 1e8 + 1, 1e-12, 1), normal(1e8, 0));
  EXPECT_NEAR(whiten_at(p, q, 1).shift(0), 1e-12, 1e-20);
}

TEST(ChainDistribution, Refusals) {
  const ChainDistribution distribution(scalar(1, 0, .1, 1), normal(0, 0));
  EXPECT_THROW((void)distribution.at(-1), InvalidArgument);
  EXPECT_THROW((void)distribution.at(2.5), InvalidArgument);
  EXPECT_THROW((void)distribution.at(std::nan("")), InvalidArgument);
  EXPECT_THROW((void)ChainDistribution(scalar(1, 0, 0, 1), normal(0, 0)), InvalidArgument);
  EXPECT_THROW((void)ChainDistribution(scalar(1, std::nan(""), .1, 1), normal(0, 0)),
               InvalidArgument);
  EXPECT_THROW((void)ChainDistribution(scalar(1, 0, .1, kInf), normal(0, 0)), InvalidArgument);
  EXPECT_THROW((void)ChainDistribution(scalar(1, 0, .1, 1), point_distribution(Vector2d(0, 0))),
               InvalidArgument);
  const ChainDistribution unstable(scalar(100, 0, .1, 1), normal(1, 0));
  EXPECT_THROW((void)unstable.at(1e6), NumericalFailure);
  EXPECT_THROW((void)unstable.at(kInf), NumericalFailure);
}

}  // namespace
}  // namespace sfumato
