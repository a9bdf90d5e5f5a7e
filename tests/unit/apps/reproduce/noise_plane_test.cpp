#include "reproduce/noise_plane.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/core/error.hpp"

namespace sfumato::apps {
namespace {

TEST(NoisePlanePoint, PointsOfTheFigure) {  // Spec §13.1
  const NoisePlanePoint point =
      noise_plane_point(Eigen::Vector2d(10.0, 1.0), Eigen::Vector2d(4.0, 1.0));
  EXPECT_DOUBLE_EQ(point.privacy_cost, 7.25);
  EXPECT_DOUBLE_EQ(point.trace, 17.0);
}

TEST(NoisePlanePoint, NoNoiseHidesNothing) {
  EXPECT_EQ(noise_plane_point(Eigen::Vector2d(1.0, 1.0), Eigen::Vector2d(1.0, 0.0)).privacy_cost,
            HUGE_VAL);
  EXPECT_EQ(noise_plane_point(Eigen::Vector2d(1.0, 0.0), Eigen::Vector2d(1.0, 0.0)).privacy_cost,
            1.0);
}

TEST(NoisePlanePoint, Refuses) {
  EXPECT_THROW((void)noise_plane_point(Eigen::Vector2d(1.0, 1.0), Eigen::Vector3d::Ones()),
               InvalidArgument);
  EXPECT_THROW((void)noise_plane_point(Eigen::Vector2d(1.0, -1.0), Eigen::Vector2d::Ones()),
               InvalidArgument);
  EXPECT_THROW((void)noise_plane_point(Eigen::Vector2d::Ones(), Eigen::Vector2d(1.0, std::nan(""))),
               InvalidArgument);
}

}  // namespace
}  // namespace sfumato::apps
