#include "sfumato/account/contour/single_step_bounds.hpp"

#include <gtest/gtest.h>

#include "sfumato/account/accountant/profile.hpp"

namespace sfumato {
namespace {

using enum StepDirection;

TotalLoss steps(double q, double sigma, double k, StepDirection direction = remove) {
  return {{SampledGaussian{q, 1.0 / sigma, k, direction}}};
}

TEST(SingleStepBounds, BoundAllSteps) {
  for (const double sigma : {1.0, 5.0}) {
    const TotalLoss loss = steps(1e-4, sigma, 20.0);
    const SingleStepBounds bounds(loss);
    const DeltaEnclosure at_zero = delta_of(loss, 0.0), at_one = delta_of(loss, 0.1);
    EXPECT_GE(bounds.log_variation(), at_zero.log.log_lo);
    EXPECT_LE(at_zero.log.log_hi, bounds.log_variation());
    EXPECT_LE(bounds.log_some_sampled(0.1), at_one.log.log_hi);
    EXPECT_LE(bounds.log_some_sampled(0.0), at_zero.log.log_hi);
  }
  // Fewer sampled steps than delta allows: nothing to search for.
  EXPECT_EQ(epsilon_of(steps(1e-7, .3, 10.0), 1e-5).hi, 0.0);
}

}  // namespace
}  // namespace sfumato
