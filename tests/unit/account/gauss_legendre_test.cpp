#include "sfumato/account/contour/gauss_legendre.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "sfumato/core/infinity.hpp"

namespace sfumato::gauss_legendre {
namespace {

/// e^{-rate |z - centre|^2}, by what panels ask of it.
Integrand bell(double rate, double centre, trapezoidal::Range range) {
  const auto most = [=](trapezoidal::Range r) {
    const double nearest = std::clamp(centre, r.low, r.high) - centre;
    return -rate * nearest * nearest;
  };
  return {range, [=](double z) { return -rate * (z - centre) * (z - centre); }, most,
          [=](const Ellipse& e) { return most(e.real) + rate * e.height * e.height; }};
}

double sum_of(const Integrand& f, const Panels& placed) {
  double sum = 0.0;
  for (const trapezoidal::Range& panel : placed.panels) {
    for_points(panel,
               [&](double z, double log_weight) { sum += std::exp(log_weight + f.log_at(z)); });
  }
  return sum;
}

TEST(GaussLegendre, PanelsIntegrateWithinTheirError) {
  for (const double rate : {0.5, 50.0, 1e3}) {
    const Integrand f = bell(rate, 0.3, {-20.0, 20.0});
    const Panels placed = gauss_legendre::placed(f, log_relative(10));
    ASSERT_FALSE(placed.panels.empty());
    const double truth = std::sqrt(std::numbers::pi / rate);
    EXPECT_NEAR(sum_of(f, placed), truth, std::exp(placed.log_error) + 1e-14 * truth) << rate;
    EXPECT_LT(placed.log_error, -35.0) << rate;
    EXPECT_GT(placed.best, -1.0) << "the largest value is nearly seen: " << rate;
  }
}

TEST(GaussLegendre, WhatIsLeftOutIsNegligibleThere) {
  // A needle in a wide range: the parts around it are kept, the rest is counted as dropped.
  const Panels placed = gauss_legendre::placed(bell(1e4, 700.0, {0.0, 1000.0}), log_relative(1));
  EXPECT_GT(placed.dropped, 900.0);
  for (const trapezoidal::Range& panel : placed.panels) {
    EXPECT_GT(panel.low, 690.0);
    EXPECT_LT(panel.high, 710.0);
  }
}

TEST(GaussLegendre, WhatNeedsTooManyPanelsHasNoError) {
  const Integrand f = {{0.0, 1.0},
                       [](double) { return 0.0; },
                       [](trapezoidal::Range) { return 0.0; },
                       [](const Ellipse&) { return kInf; }};  // analytic nowhere
  EXPECT_EQ(gauss_legendre::placed(f, -44.0).log_error, kInf);
  EXPECT_EQ(points(f, 1), kInf);
}

}  // namespace
}  // namespace sfumato::gauss_legendre
