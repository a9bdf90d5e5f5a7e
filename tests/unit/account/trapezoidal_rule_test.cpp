#include "sfumato/account/contour/trapezoidal_rule.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/account/steps/sampled_gaussian.hpp"
#include "support/accounting_transforms.hpp"

namespace sfumato::trapezoidal {
namespace {

using namespace reference;
using enum StepDirection;

/// M(s0 + iy) of a step that removes or adds a record, on a grid of exact points.
reference::Moment moment_of(double q, double m, StepDirection direction, double s0, double y) {
  constexpr double kStep = 1.0 / 32;
  const double reach = std::ceil(15.0 + m * (1.0 + 2.0 * std::fabs(s0)));
  reference::Moment moment{0, 0};
  for (double z = -reach; z <= reach; z += kStep) {
    const Real l = log_r(q, m, Real(z)), loss = direction == remove ? l : Real(-l);
    const Real size =
        kStep * density(Real(z)) * exp((direction == remove ? l : Real(0)) + Real(s0) * loss);
    moment.re += size * cos(Real(y) * loss);
    moment.im += size * sin(Real(y) * loss);
  }
  return moment;
}

TEST(TrapezoidalRule, DistributionsHaveTheirTransforms) {
  for (const auto& [q, m, direction, s0] : {std::tuple{.01, 1.0, remove, 3.0},
                                            {1e-4, .3, remove, 40.0},
                                            {.3, 2.0, add, 0.7},
                                            {.02, 1.0, add, 5.0}}) {
    const RatioStep step = *SampledGaussian{q, m, 10.0, direction}.as_ratio();
    const double reach = 12.0;
    expect_distribution(tilted_distribution(step, s0, reach), reach,
                        [&, q = q, m = m, direction = direction, s0 = s0](double y) {
                          return moment_of(q, m, direction, s0, y);
                        });
  }
}

TEST(Located, KeepsEveryPartThatCounts) {
  // Two narrow bumps far apart, between points of any grid.
  const auto at = [](double z) {
    return std::max(-1e4 * (z - 1.234) * (z - 1.234), -20.0 - 1e4 * (z - 87.654) * (z - 87.654));
  };
  const auto most_on = [](Range r) {
    const auto bump = [&](double centre, double top) {
      const double nearest = std::clamp(centre, r.low, r.high) - centre;
      return top - 1e4 * nearest * nearest;
    };
    return std::max(bump(1.234, 0.0), bump(87.654, -20.0));
  };
  const Located found = located({0.0, 100.0}, at, most_on);
  ASSERT_EQ(found.parts.size(), 2U);
  EXPECT_LT(found.parts[0].low, 1.234);
  EXPECT_GT(found.parts[0].high, 1.234);
  EXPECT_LT(found.parts[1].low, 87.654);
  EXPECT_GT(found.parts[1].high, 87.654);
  EXPECT_LT(found.parts[0].length() + found.parts[1].length(), 4.0);
}

TEST(TrapezoidalRule, SpacingFallsWithTheReachAndWithTheCut) {
  const RatioStep step = *SampledGaussian{.01, 1.0, 10.0, remove}.as_ratio();
  const double wide = spacing_for(step, 1.0, 1.0, 1e300);
  EXPECT_LT(spacing_for(step, 1.0, 100.0, 1e300), wide);
  EXPECT_LT(spacing_for(step, 1.0, 1.0, 0.1), wide);
}

}  // namespace
}  // namespace sfumato::trapezoidal
