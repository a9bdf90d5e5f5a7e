// Values, edges and refusals of Spec §7.2, §7.3, §7.4, §7.5 and §7.6.
#include "sfumato/divergence/convexity_bounds.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"
#include "support/just_above.hpp"

namespace sfumato {
namespace {

double value(const KlBound& bound) { return bound.kl.value.value(); }
bool says(const KlBound& bound, const char* text) {
  return bound.reason.find(text) != std::string::npos;
}

const LangevinConstants kGolden{{0.5, 2.0}, {0.6, 2.5}, 1.0, 1.0, 3, 0.4, 4.0};

TEST(ConvexityBounds, GoldenValues) {
  EXPECT_NEAR(value(kl_bound_finite_time(kGolden, 1.5)), 15.677661406464102, 1e-9);
  EXPECT_NEAR(value(kl_bound_uniform(kGolden)), 41.666666666666664, 1e-12);
  LangevinConstants unequal = kGolden;
  unequal.variance_prime = 1.2;
  EXPECT_NEAR(value(kl_bound_stationary(unequal)), 25.57193481772463, 1e-12);
  EXPECT_NEAR(value(kl_bound_unequal(unequal, {6.0, 1.0}, 1.5)), 20.8556382604176, 1e-9);
}

TEST(ConvexityBounds, LogSobolevConstant) {
  EXPECT_NEAR(lsi_constant(4.0, 1.0, 0.5, 1.0), 3.5263265086718554, 1e-15);
  EXPECT_EQ(lsi_constant(1.0, 0.0, 0.5, 2.0), 4.5);
  EXPECT_EQ(lsi_constant(1.0, 0.0, 0.5, kInf), kInf);
  EXPECT_EQ(lsi_constant(3.0, 2.0, 7.0, kInf), 1.5);
  EXPECT_EQ(lsi_constant(3.0, 2.0, 7.0, 0.0), 7.0);
}

TEST(ConvexityBounds, MeanSquareDistance) {
  EXPECT_NEAR(mean_square_distance_bound(1.0, 1.0, 100.0, 1.0), 13.965860682042964, 1e-13);
  EXPECT_EQ(mean_square_distance_bound(2.0, 0.0, 1.0, 3.0), 7.0);
  EXPECT_EQ(mean_square_distance_bound(2.0, 0.0, 1.0, kInf), kInf);
  EXPECT_EQ(mean_square_distance_bound(0.0, 0.0, 1.0, kInf), 1.0);
  EXPECT_EQ(mean_square_distance_bound(2.0, 4.0, 9.0, kInf), 0.25);
  EXPECT_EQ(mean_square_distance_bound(2.0, 4.0, 9.0, 0.0), 9.0);
}

TEST(ConvexityBounds, BetterConstantsHelp) {
  LangevinConstants better = kGolden;
  better.gradient_at_minimiser = 0.1;
  EXPECT_LT(value(kl_bound_finite_time(better, 1.5)), value(kl_bound_finite_time(kGolden, 1.5)));
  better.gap_lipschitz = 0.2;
  EXPECT_LT(value(kl_bound_stationary(better)), 1.0);
  better.gradient_at_minimiser = 50.0;  // worse than L' Delta = 1: not used
  better.gap_lipschitz.reset();
  EXPECT_EQ(value(kl_bound_uniform(better)), value(kl_bound_uniform(kGolden)));
}

TEST(ConvexityBounds, Times) {
  EXPECT_EQ(value(kl_bound_finite_time(kGolden, 0.0)), 0.0);
  EXPECT_EQ(value(kl_bound_unequal(kGolden, {6.0, 1.0}, 0.0)), 0.0);
  EXPECT_DOUBLE_EQ(value(kl_bound_finite_time(kGolden, kInf)), value(kl_bound_stationary(kGolden)));
  // A short time costs D_0 t / 2.
  const double gap = 2.0 * 2.0 + 2.5 * 0.4;  // L_D sqrt(u_0) + L' Delta
  EXPECT_NEAR(value(kl_bound_finite_time(kGolden, 1e-9)), 0.5e-9 * gap * gap, 1e-16);
}

// u_0 = 0: a square root at time 0. L_D = 2, G = 1, sigma^2 = d = 1, kappa = kappa' = 0:
// 1/2 int (2 sqrt(s) + 1)^2 = 1/2 (2 t^2 + 8/3 t^{3/2} + t).
TEST(ConvexityBounds, FlatPotentialsFromTheMinimiser) {
  const LangevinConstants flat{{0.0, 2.0}, {0.0, 1.0}, 1.0, 1.0, 1, 1.0, 0.0};
  for (const double t : {1e-6, 0.5, 3.0, 1e4}) {
    const double expected = 0.5 * (2 * t * t + 8.0 / 3.0 * std::pow(t, 1.5) + t);
    EXPECT_NEAR(value(kl_bound_finite_time(flat, t)), expected, 1e-11 * expected);
    EXPECT_GE(value(kl_bound_finite_time(flat, t)), expected * (1 - 1e-15));
  }
  EXPECT_TRUE(says(kl_bound_finite_time(flat, kInf), "kappa' = 0"));
  EXPECT_TRUE(says(kl_bound_uniform(flat), "kappa' = 0"));
  EXPECT_TRUE(says(kl_bound_stationary(flat), "kappa' = 0"));
  EXPECT_LT(value(kl_bound_unequal(flat, {1.0, 0.0}, 2.0)), kInf);
  LangevinConstants half = flat;
  half.f_prime = {1.0, 1.0};
  EXPECT_TRUE(says(kl_bound_uniform(half), "kappa = 0"));
  EXPECT_TRUE(says(kl_bound_finite_time(half, kInf), "kappa = 0"));
  half.gap_lipschitz = 0.0;  // gradients that differ by a constant need no kappa
  testing::expect_just_above(value(kl_bound_uniform(half)), 1.0);
  LangevinConstants same = flat;
  same.gap_lipschitz = 0.0;
  same.minimiser_distance = 0.0;
  EXPECT_EQ(value(kl_bound_uniform(same)), 0.0);
}

TEST(ConvexityBounds, PointStartWithUnequalNoiseSaysWhy) {
  LangevinConstants unequal = kGolden;
  unequal.variance_prime = 2.0;
  EXPECT_TRUE(says(kl_bound_unequal(unequal, {kInf, 0.0}, 1.0), "Fisher information"));
  EXPECT_TRUE(says(kl_bound_unequal(unequal, {1.0, kInf}, 1.0), "log-Sobolev"));
  EXPECT_LT(value(kl_bound_unequal(kGolden, {kInf, 0.0}, 1.0)), kInf);  // equal noise: no score
}

TEST(ConvexityBounds, Refusals) {
  LangevinConstants bad = kGolden;
  bad.f.lipschitz = 0.1;
  EXPECT_THROW((void)kl_bound_finite_time(bad, 1.0), InvalidArgument);
  bad = kGolden;
  bad.variance_prime = 2.0;
  EXPECT_THROW((void)kl_bound_finite_time(bad, 1.0), InvalidArgument);
  EXPECT_THROW((void)kl_bound_uniform(bad), InvalidArgument);
  bad = kGolden;
  bad.dimension = 0;
  EXPECT_THROW((void)kl_bound_stationary(bad), InvalidArgument);
  bad = kGolden;
  bad.start_distance = kInf;
  EXPECT_THROW((void)kl_bound_uniform(bad), InvalidArgument);
  bad = kGolden;
  bad.f_prime.kappa = -1.0;
  EXPECT_THROW((void)kl_bound_uniform(bad), InvalidArgument);
  EXPECT_THROW((void)kl_bound_finite_time(kGolden, -1.0), InvalidArgument);
  EXPECT_THROW((void)kl_bound_unequal(kGolden, {-1.0, 1.0}, 1.0), InvalidArgument);
  EXPECT_THROW((void)lsi_constant(1.0, -1.0, 0.0, 1.0), InvalidArgument);
  EXPECT_THROW((void)mean_square_distance_bound(1.0, 1.0, -1.0, 1.0), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
