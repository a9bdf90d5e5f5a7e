// Values, edges and refusals of Spec §8.1, §8.5 and §8.6.
#include "sfumato/divergence/step_kl.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

using Eigen::Vector2d;
using Eigen::VectorXd;

constexpr double kInf = std::numeric_limits<double>::infinity();

VectorXd one(double value) { return VectorXd::Constant(1, value); }

TEST(StepKl, Values) {
  EXPECT_DOUBLE_EQ(step_kl(0.5, one(3), one(1), one(2), one(2)), 0.25);
  EXPECT_DOUBLE_EQ(step_kl(0.5, one(1), one(1), one(2), one(1)), 0.5 * (1.0 - std::log(2.0)));
}

TEST(StepKl, Zeros) {
  EXPECT_EQ(step_kl(1, one(1), one(1), one(0), one(0)), 0.0);
  EXPECT_EQ(step_kl(1, one(1), one(2), one(0), one(0)), kInf);
  EXPECT_EQ(step_kl(1, one(1), one(1), one(0), one(1)), kInf);
  EXPECT_EQ(step_kl(1, one(1), one(1), one(1), one(0)), kInf);
}

// Erratum 28: the part that no noise level removes.
TEST(StepKl, GradientScaledNoise) {
  EXPECT_NEAR(gradient_scaled_step_kl(.1, .01, one(1e-3), one(1.1e-3)), 0.00220509, 5e-9);
  EXPECT_NEAR(gradient_scaled_step_kl(.1, 100, one(1e-3), one(1.1e-3)), 0.00220054, 5e-9);
  EXPECT_NEAR(gradient_scaled_step_kl(.1, 100, one(1e-3), one(1e-9)), 499993, 1);
  EXPECT_EQ(gradient_scaled_step_kl(.1, 100, one(1e-3), one(0)), kInf);
  EXPECT_EQ(gradient_scaled_step_kl(.1, 100, one(0), one(0)), 0.0);
}

TEST(StepKl, LayerMaximum) {
  EXPECT_NEAR(layer_max_step_kl(.1, .01, Vector2d(.5, .1), Vector2d(.4, 0)), 0.05185644868579024,
              1e-15);
  // 7840 parameters, the maximum 1 % larger: 0.195 whatever the noise.
  VectorXd g = VectorXd::Zero(7840);
  VectorXd g_prime = g;
  g(0) = 1.01;
  g_prime(0) = 1.0;
  EXPECT_NEAR(layer_max_step_kl(.1, 1e6, g, g_prime), 0.195, 1e-3);
  // Layers are apart: the second has neither noise nor difference.
  EXPECT_DOUBLE_EQ(layer_max_step_kl(.1, .01, Vector2d(.5, 0), Vector2d(.4, 0), {1, 1}),
                   gradient_scaled_step_kl(.1, .01, Vector2d(.5, 0), Vector2d(.4, 0)));
}

TEST(StepKl, Floored) {
  EXPECT_NEAR(floored_step_kl(.1, .01, .05, Vector2d(.5, .1), Vector2d(.4, 0)), 0.2793546340629225,
              1e-15);
  // Attained at |g'| = c, |g| = c + s.
  const double bound = floored_step_kl_bound(.1, .01, .05, one(.2));
  EXPECT_NEAR(floored_step_kl(.1, .01, .05, one(.25), one(.05)), bound, 1e-14);
  EXPECT_LE(bound, .2 * .2 * (1 / (4 * .05 * .05) + .01 / (2 * .01 * .05)));
  EXPECT_EQ(floored_step_kl_bound(.1, .01, .05, one(0)), 0.0);
}

TEST(StepKl, Refusals) {
  EXPECT_THROW((void)step_kl(1, one(1), Vector2d(1, 1), one(1), one(1)), InvalidArgument);
  EXPECT_THROW((void)step_kl(1, one(1), one(1), one(-1), one(1)), InvalidArgument);
  EXPECT_THROW((void)step_kl(-1, one(1), one(1), one(1), one(1)), InvalidArgument);
  EXPECT_THROW((void)step_kl(1, one(kInf), one(1), one(1), one(1)), InvalidArgument);
  EXPECT_THROW((void)gradient_scaled_step_kl(1, 0, one(1), one(1)), InvalidArgument);
  EXPECT_THROW((void)layer_max_step_kl(1, 1, one(1), one(1), {2}), InvalidArgument);
  EXPECT_THROW((void)floored_step_kl(1, 1, 0, one(1), one(1)), InvalidArgument);
  EXPECT_THROW((void)floored_step_kl_bound(1, 1, 1, one(-1)), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
