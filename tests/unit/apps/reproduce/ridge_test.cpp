// The ridge problems behind Table 1's argument and the frontier: real records, exact distributions.
#include <gtest/gtest.h>

#include <cmath>

#include "reproduce/batch_ridge.hpp"
#include "reproduce/ridge_frontier.hpp"

namespace sfumato::apps {
namespace {

RidgeData small_table() {
  RidgeData data{Eigen::MatrixXd(8, 2), Eigen::VectorXd(8)};
  data.features << 1, 0.2, 1, -0.4, 1, 0.9, 1, 1.4, 1, -1.1, 1, 0.3, 1, 0.7, 1, -0.8;
  data.targets << 0.3, -0.5, 1.2, 0.9, -1.4, 0.1, 1.1, 2.5;
  return data;
}

TEST(KlAgainstBatch, PartsAddUpAndTheDriftGrowsAsTheNoiseShrinks) {
  const std::vector<BatchPoint> points =
      kl_against_batch(small_table(), 0.1, 7, 0.1, {1, 2, 3, 6, 7, 8});
  ASSERT_EQ(points.size(), 6u);
  for (std::size_t i = 0; i < 4; ++i) {
    const BatchPoint& p = points[i];
    EXPECT_NEAR(p.drift + p.covariance, p.kl, 1e-9 * p.kl);
    EXPECT_GE(p.covariance, 0.0);
    // The noise on D' shrinks as (7 - n)/n, and the means do not depend on it.
    const auto n = static_cast<double>(p.batch);
    EXPECT_NEAR(p.drift, points[0].drift * 6.0 * n / (7.0 - n), 1e-8 * p.drift);
  }
  EXPECT_TRUE(std::isinf(points[4].kl));  // D' has no noise left
  EXPECT_TRUE(std::isinf(points[5].kl));
}

TEST(RidgeFrontier, IsExactMonotoneAndAtEqualLosses) {
  RidgeFrontierOptions options;
  options.rows = 60;
  options.points = 9;
  const std::vector<FrontierCurve> curves = ridge_frontier(options, data_places());
  ASSERT_EQ(curves.size(), 6u);
  for (const FrontierCurve& curve : curves) {
    ASSERT_EQ(curve.points.size(), 9u);
    for (std::size_t i = 0; i < 9; ++i) {
      const FrontierPoint& p = curve.points[i];
      EXPECT_NEAR(p.excess_loss, curves.front().points[i].excess_loss, 1e-9 * p.excess_loss);
      EXPECT_GE(p.advantage, 0.0);
      EXPECT_LE(p.advantage, std::sqrt(0.5 * p.kl) + 1e-9);  // Pinsker
      if (i == 0) continue;
      EXPECT_LE(p.advantage, curve.points[i - 1].advantage + 1e-12) << curve.policy;
    }
  }
  // Noise that depends on the data reveals them however strong it is.
  EXPECT_EQ(curves[2].policy, "anisotropic");
  EXPECT_GT(curves[2].points.back().advantage, 2.0 * curves[0].points.back().advantage);
}

}  // namespace
}  // namespace sfumato::apps
