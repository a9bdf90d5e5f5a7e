// Chords of delta and the largest rates, against the closed form of normal noise.
#include "sfumato/account/accountant/profile_curve.hpp"

#include <gtest/gtest.h>

#include <boost/math/distributions/normal.hpp>
#include <cmath>

#include "sfumato/core/error.hpp"
#include "sfumato/divergence/gdp.hpp"

namespace sfumato {
namespace {

TotalLoss normal_loss(double mu) {
  TotalLoss loss;
  loss.mu_squared = mu * mu;
  return loss;
}

TEST(ProfileCurve, ChordsAreAboveAndNear) {
  const ProfileCurve curve({normal_loss(1.0), normal_loss(1.0)}, {.least = 1e-9});
  EXPECT_EQ(curve.directions().size(), 2U);
  EXPECT_LE(curve.nodes().back().hi, 1e-9);
  for (double eps = -3.0; eps < 5.9; eps += .0173) {
    const double exact = gdp_delta(1.0, eps).delta, found = curve.delta_hi(eps);
    EXPECT_GE(found, exact * (1.0 - 1e-13)) << eps;
    EXPECT_LE(found, exact * (1.0 + 1e-2) + 1e-9) << eps;
  }
  EXPECT_EQ(curve.delta_hi(100.0), curve.nodes().back().hi);
}

TEST(ProfileCurve, RatesAreAboveThoseOfTheBestTest) {
  const ProfileCurve curve({normal_loss(1.0), normal_loss(1.0)}, {.least = 1e-12});
  const boost::math::normal normal;
  for (double x = 1e-9; x < 1.0; x *= 1.7) {
    const double exact = cdf(normal, quantile(normal, x) + 1.0), found = curve.rate_hi(x);
    EXPECT_GE(found, exact * (1.0 - 1e-12)) << x;
    EXPECT_LE(found, exact * (1.0 + 1e-4)) << x;
  }
  EXPECT_EQ(curve.rate_hi(1.0), 1.0);
}

TEST(ProfileCurve, DisclosureIsItsFloor) {
  TotalLoss loss = normal_loss(.5);
  loss.log_survival = std::log1p(-1e-4);
  const ProfileCurve curve({loss, loss}, {.least = 1e-9});
  EXPECT_GE(curve.delta_hi(50.0), 1e-4);
  EXPECT_THROW(ProfileCurve({normal_loss(60.0)}, {}), NumericalFailure);
}

}  // namespace
}  // namespace sfumato
