#include "sfumato/account/contour/transform_decay.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>

#include "sfumato/account/contour/ratio_quadrature.hpp"
#include "sfumato/account/steps/sampled_gaussian.hpp"

namespace sfumato {
namespace {

using enum StepDirection;

TEST(TransformDecay, OfTheExchangedPairIsABoundAndNear) {
  for (const auto& [q, m, s0] : {std::array{1e-5, .2, 2e4}, std::array{2.346e-4, .263, 2700.0},
                                 std::array{1e-3, 1.0, 200.0}}) {
    const SampledGaussian step{q, m, 5.0, add};
    for (const double times : {10.0, 50.0}) {
      const double reach = times * s0;
      const TiltedDistribution distribution =
          gauss_legendre::tilted_distribution(*step.as_ratio(), s0, reach);
      const StepCumulant here{distribution.cumulant, distribution.mean, distribution.variance,
                              distribution.error_at(0.0)};
      const double bound = step.log_bound_beyond(here, s0, reach, -8.0).log_ratio;
      const double truth = std::log(std::abs(1.0 + distribution.change_at(reach)));
      EXPECT_GE(bound, truth - 1e-12) << q;
      EXPECT_LT(bound, 0.5 * truth) << q;
    }
  }
}

}  // namespace
}  // namespace sfumato
