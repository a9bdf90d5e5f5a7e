#include "sfumato/sde/noise_metric.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

const Points kAt = (Points(3, 2) << 0.1, 0.2, -1.0, 0.5, 2.0, -3.0).finished();
const Points kA = (Points(3, 2) << 1.0, 2.0, 0.5, -0.5, 0.0, 0.0).finished();
const Points kB = (Points(3, 2) << 0.0, 1.0, 0.5, 0.5, 0.0, 0.0).finished();

Eigen::ArrayXd distances(const Noise& noise) {
  Eigen::ArrayXd sum = Eigen::ArrayXd::Constant(3, 10.0);
  Points scratch;
  NoiseMetric(noise, 2).add_squared_distances(0.0, kAt, kA, kB, 0.5, sum.data(), scratch);
  return sum - 10.0;
}

TEST(NoiseMetric, EveryShapeOfOneNoise) {
  const MatrixXd sigma = (MatrixXd(2, 2) << 1.0, 0.3, 0.3, 0.5).finished();
  Eigen::ArrayXd expected(3);
  for (Index j = 0; j < 3; ++j) {
    const VectorXd gap = (kA.row(j) - kB.row(j)).matrix().transpose();
    expected(j) = 0.5 * gap.dot(sigma.inverse() * gap);
  }
  const Noise constant = Covariance(Dense{sigma});
  const Noise by_point = MatrixNoise{[=](double, const VectorXd&) { return sigma; }, {}};
  EXPECT_LT((distances(constant) - expected).abs().maxCoeff(), 1e-13);
  EXPECT_LT((distances(by_point) - expected).abs().maxCoeff(), 1e-13);

  const Noise diagonal = Covariance(Diagonal{Eigen::Vector2d(2.0, 0.5)});
  const Noise field = DiagonalNoise{[](double, const ConstPoints&, MutablePoints out) {
                                      out.col(0).setConstant(2.0);
                                      out.col(1).setConstant(0.5);
                                    },
                                    {}};
  const Eigen::Array3d by_hand(0.5 * (1.0 / 2.0 + 1.0 / 0.5), 0.5 * 1.0 / 0.5, 0.0);
  EXPECT_LT((distances(diagonal) - by_hand).abs().maxCoeff(), 1e-13);
  EXPECT_LT((distances(field) - by_hand).abs().maxCoeff(), 1e-13);
}

// Row 0 differs along (1, 1), row 1 along (0, 1), row 2 not at all.
TEST(NoiseMetric, WithoutNoiseADifferenceIsInfinitelyLong) {
  const MatrixXd along_ones = MatrixXd::Constant(2, 2, 1.0);
  const auto by_point =
      distances(MatrixNoise{[=](double, const VectorXd&) { return along_ones; }, {}});
  EXPECT_NEAR(by_point(0), 0.5, 1e-12);
  EXPECT_EQ(by_point(1), HUGE_VAL);
  EXPECT_EQ(by_point(2), 0.0);
  const auto field = distances(
      DiagonalNoise{[](double, const ConstPoints&, MutablePoints out) { out.setZero(); }, {}});
  EXPECT_EQ(field(1), HUGE_VAL);
  EXPECT_EQ(field(2), 0.0);
}

TEST(NoiseMetric, Refusals) {
  EXPECT_THROW(NoiseMetric(Covariance(Isotropic{0.0, 2}), 2), InvalidArgument);
  EXPECT_THROW(NoiseMetric(Covariance(Diagonal{Eigen::Vector2d(1.0, 0.0)}), 2), InvalidArgument);
  EXPECT_THROW(NoiseMetric(Covariance(Dense{MatrixXd::Constant(2, 2, 1.0)}), 2), InvalidArgument);
  EXPECT_THROW(NoiseMetric(Covariance(Isotropic{1.0, 3}), 2), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
