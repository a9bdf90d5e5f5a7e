#include "sfumato/design/stationary_quadratic.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

double gain(double condition, const Eigen::Vector2d& shift) {
  return stationary_quadratic_design(Eigen::Vector2d(condition, 1.0), shift, 0.7).gain();
}

TEST(StationaryQuadratic, GainTableOfTheSpecification) {  // Spec §13.3
  EXPECT_NEAR(gain(10.0, {0.1, 0.1}), 3.025, 1e-12);
  EXPECT_NEAR(gain(100.0, {0.1, 0.1}), 25.5025, 1e-10);
  EXPECT_NEAR(gain(10.0, {0.1 / 10.0, 0.1}), 1.0, 1e-14);
  EXPECT_NEAR(gain(10.0, {0.1, 0.0}), 11.0, 1e-12);
  EXPECT_NEAR(gain(100.0, {0.1, 0.0}), 101.0, 1e-10);
  EXPECT_NEAR(gain(10.0, {0.0, -0.1}), 1.1, 1e-12);
}

TEST(StationaryQuadratic, SpendsTheErrorAndReachesTheValue) {
  const Eigen::Vector3d l(1.0, 2.0, 5.0);
  const Eigen::Vector3d shift(0.1, -0.3, 0.2);
  const StationaryQuadraticDesign design = stationary_quadratic_design(l, shift, 0.4);
  EXPECT_DOUBLE_EQ((design.variances.array() / (2.0 * l.array())).sum(), 0.4);
  EXPECT_NEAR((l.array() * shift.array().square() / design.variances.array()).sum(), design.kl,
              1e-14);
}

TEST(StationaryQuadratic, Refuses) {
  const Eigen::Vector2d one(1.0, 1.0);
  EXPECT_THROW((void)stationary_quadratic_design(one, Eigen::Vector3d::Ones(), 1.0),
               InvalidArgument);
  EXPECT_THROW((void)stationary_quadratic_design(one, Eigen::Vector2d::Zero(), 1.0),
               InvalidArgument);
  EXPECT_THROW((void)stationary_quadratic_design(one, one, 0.0), InvalidArgument);
  EXPECT_THROW((void)stationary_quadratic_design(Eigen::Vector2d(1.0, 0.0), one, 1.0),
               InvalidArgument);
  EXPECT_THROW((void)stationary_quadratic_design(one, Eigen::Vector2d(1.0, std::nan("")), 1.0),
               InvalidArgument);
}

}  // namespace
}  // namespace sfumato
