// Values and refusals of Spec §8.7 (1).
#include "sfumato/divergence/mahalanobis_clip.hpp"

#include <gtest/gtest.h>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

using Eigen::Matrix2d;
using Eigen::Vector2d;
using Eigen::VectorXd;

TEST(MahalanobisClip, LongGradientsAreShortenedToTheNorm) {
  const Covariance sigma = Dense{(Matrix2d() << 4, 1, 1, 2).finished()};
  const ClippedGradient clipped = mahalanobis_clip(Vector2d(3, 4), sigma, 1.5);
  EXPECT_NEAR(clipped.norm, 2.878491668515698, 1e-14);
  EXPECT_NEAR(clipped.gradient(0), 1.5633187510042152, 1e-14);
  EXPECT_NEAR(mahalanobis_clip(clipped.gradient, sigma, 1.5).norm, 1.5, 1e-15);
}

TEST(MahalanobisClip, ShortAndZeroGradientsStay) {
  EXPECT_EQ(mahalanobis_clip(Vector2d(.1, .1), Isotropic{1.0, 2}, 1.5).gradient,
            VectorXd(Vector2d(.1, .1)));
  EXPECT_EQ(mahalanobis_clip(Vector2d(0, 0), Isotropic{1.0, 2}, 1.5).norm, 0.0);
}

TEST(MahalanobisClip, Refusals) {
  EXPECT_THROW((void)mahalanobis_clip(Vector2d(1, 1), Isotropic{1.0, 3}, 1.0), InvalidArgument);
  EXPECT_THROW((void)mahalanobis_clip(Vector2d(1, 1), Isotropic{1.0, 2}, 0.0), InvalidArgument);
  EXPECT_THROW((void)mahalanobis_clip(Vector2d(1, 1), Diagonal{Vector2d(1, 0)}, 1.0),
               NumericalFailure);
}

}  // namespace
}  // namespace sfumato
