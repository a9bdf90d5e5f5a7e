#include "sfumato/account/contour/ratio_quadrature.hpp"

#include <gtest/gtest.h>

#include <complex>

#include "sfumato/account/contour/trapezoidal_rule.hpp"
#include "sfumato/account/steps/sampled_gaussian.hpp"

namespace sfumato {
namespace {

using enum StepDirection;

TEST(RatioQuadrature, GiveTheTransformOfTheTrapezoidalRule) {
  struct Place {
    StepDirection direction;
    double q, m, s0, reach;
  };
  for (const auto& [direction, q, m, s0, reach] :
       {Place{remove, .01, 1.0, 3.0, 300.0}, Place{add, .01, 1.0, 20.0, 300.0},
        Place{add, 1e-3, .5, 300.0, 3000.0}, Place{replace, .01, 1.0, 1.0, 200.0},
        Place{remove, .2, 2.0, -0.5, 50.0}}) {
    const RatioStep step = *SampledGaussian{q, m, 10.0, direction}.as_ratio();
    const TiltedDistribution panels = gauss_legendre::tilted_distribution(step, s0, reach);
    const TiltedDistribution even = trapezoidal::tilted_distribution(step, s0, reach);
    EXPECT_NEAR(panels.cumulant, even.cumulant, panels.error_at(0.0) + even.error_at(0.0));
    for (const double y : {0.1 * reach, 0.63 * reach, reach}) {
      const double error = panels.error_at(y) + even.error_at(y);
      EXPECT_LT(error, 1e-11);
      EXPECT_LE(std::abs(panels.change_at(y) - even.change_at(y)), error) << q << " " << y;
    }
  }
}

}  // namespace
}  // namespace sfumato
