#include "sfumato/divergence/shift_bound.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"

namespace sfumato {
namespace {

ShiftRate constant(double delta) {
  return {[delta](double) { return delta; }, kInf, delta};
}

TEST(ShiftBound, ClosedFormsOfConstantRates) {
  // Spec §27.3 (3): (delta^2/kappa) tanh(kappa t/2), and the path form where nothing contracts.
  for (const double t : {1e-6, 0.3, 5.0, 1e3}) {
    EXPECT_NEAR(shift_bound(constant(2.0), 0.7, t), 4.0 / 0.7 * std::tanh(0.35 * t), 2e-5 * t);
    EXPECT_NEAR(shift_bound(constant(2.0), 0.0, t), 2.0 * t, 1e-9 * t);
    const double expanding = shift_bound(constant(2.0), -1.0, t);
    EXPECT_GE(expanding, 2.0 * t * (1.0 - 1e-12));  // not tanh: the path form
    EXPECT_LE(expanding, 2.0 * t * (1.0 + 1e-6));
  }
  EXPECT_DOUBLE_EQ(shift_bound(constant(2.0), 0.5, kInf), 8.0);
  EXPECT_EQ(shift_bound(constant(2.0), 0.0, kInf), kInf);
}

TEST(ShiftBound, PointStartIsIntegrable) {
  // delta = s^{-1/2}, kappa = 0: (2 sqrt t)^2 / (2 t) = 2 at every time.
  const ShiftRate rate{[](double s) { return 1.0 / std::sqrt(s); }, 1e-2, 0.0};
  for (const double t : {1e-6, 1.0, 1e6}) {
    const double bound = shift_bound(rate, 0.0, t);
    EXPECT_GE(bound, 2.0 * (1.0 - 1e-9));
    EXPECT_LE(bound, 2.0 * (1.0 + 1e-4));
  }
}

TEST(ShiftBound, OnlyADistanceAtTheStart) {
  const double kappa = 0.5, d0 = 0.3, t = 3.0;
  EXPECT_NEAR(shift_bound(constant(0.0), kappa, t, d0),
              kappa * d0 * d0 / std::expm1(2.0 * kappa * t), 1e-9);
  EXPECT_NEAR(shift_bound({0.0, 1.0, t}, {0.0, 0.0}, kappa, d0),
              kappa * d0 * d0 / std::expm1(2.0 * kappa * t), 1e-12);
}

TEST(ShiftBound, TheDistanceOfTheStartsIsPaidWhereDriftsPushApart) {
  // Only a distance: |kappa| d0^2 / (1 - e^{-2 |kappa| t}), also where e^{-300} has long been reached.
  for (const double kappa : {-3.0, -301.0, -1e5}) {
    const double right = -kappa / -std::expm1(2.0 * kappa);
    EXPECT_NEAR(shift_bound({0.0, 1.0}, {0.0}, kappa, 1.0), right, 1e-9 * right);
    EXPECT_NEAR(shift_bound(constant(0.0), kappa, 1.0, 1.0), right, 1e-9 * right);
    // And beside a difference of the drifts no less than either.
    EXPECT_GE(shift_bound({0.0, 1.0}, {2.0}, kappa, 1.0), right);
    EXPECT_GE(shift_bound(constant(2.0), kappa, 1.0, 1.0), std::max(right, 2.0));
  }
  EXPECT_GT(shift_bound({0.0, 1.0}, {0.0}, 1e4, 1.0), 0.0);  // e^{-2e4} is no number, and not 0
}

TEST(ShiftHull, Refusals) {
  EXPECT_THROW((void)shift_hull({}, {}, 0.0), InvalidArgument);
  EXPECT_THROW((void)shift_hull({1.0}, {1.0, 2.0}, 0.0), InvalidArgument);
  EXPECT_THROW((void)shift_hull({1.0}, {-1.0}, 0.0), InvalidArgument);
  EXPECT_THROW((void)shift_hull({1.0, 0.0}, {0.0, 1.0}, 0.0), InvalidArgument);
  EXPECT_THROW((void)shift_bound({0.0, 1.0}, {std::nan("")}, 1.0, 0.0), InvalidArgument);
  EXPECT_THROW((void)shift_bound({1.0, 1.0}, {1.0}, 1.0, 0.0), InvalidArgument);
}

TEST(PointStartNoise, TwiceTheTruthForNearlyEqualNoise) {
  const PointStartNoise near = point_start_noise(Isotropic{1.0, 3}, Isotropic{1.0 + 1e-6, 3});
  EXPECT_NEAR(near.bound / near.kl, 2.0, 1e-4);
  EXPECT_THROW((void)point_start_noise(Isotropic{0.0, 1}, Isotropic{1.0, 1}), NumericalFailure);
}

}  // namespace
}  // namespace sfumato
