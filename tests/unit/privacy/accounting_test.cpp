// Values, edges and refusals of the contour accountant (Spec §17 and §18). The values are of 22 digits, computed elsewhere.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/divergence/gdp.hpp"
#include "sfumato/privacy/accounting/profile.hpp"
#include "sfumato/privacy/accounting/split.hpp"

namespace sfumato {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

TotalLoss steps(double q, double sigma, double k, StepDirection direction = StepDirection::remove) {
  return {{{q, 1.0 / sigma, k, direction}}, 0.0};
}

struct Value {
  double q, sigma;
  StepDirection direction;
  double k, eps, log_delta, width;
};

TEST(Accounting, EnclosesReferenceValues) {
  using enum StepDirection;
  for (const Value& v :
       std::vector<Value>{{.01, 1, add, 1000, 1, -7.137684081169531334406, 1e-11},
                          {.01, 1, replace, 1000, 1, -3.41239637299376, 1e-11},
                          {.01, 1, remove, 1000, 0, -1.82624148086815, 1e-11},
                          {.01, 2, remove, 10000, 1, -4.58292825816096, 1e-11},
                          {.02, 1, remove, 10000, 1, -0.386342596481663, 1e-11},
                          {.01, 1, remove, 1e7, 1000, -10.05102160439, 1e-9},
                          {.001, 2, remove, 1e7, 20, -66.0089639822748, 1e-8},
                          {.3, 1, remove, 20, 500, -6639.97011649812, 1e-8},
                          {.05, 3, replace, 5000, 30, -72.0674033049976, 1e-9},
                          {.9, 1.7, add, 40, 15, -7.33930957914065, 1e-11},
                          {.1, 1, remove, 1, 1, -8.48220504785867, 1e-11},  // closed form
                          {.1, 1, remove, 2, 1, -7.57297522176, 1e-9},      // rare hits
                          {.0005, 1, remove, 500, 3, -57.5276178585, 1e-8}}) {
    const DeltaEnclosure found = delta_of(steps(v.q, v.sigma, v.k, v.direction), v.eps);
    // The references are given to 13 digits or more.
    const double digits = 1e-12 * std::fabs(v.log_delta) + 1e-12;
    EXPECT_LE(found.log.log_lo, v.log_delta + digits) << v.q << " " << v.k;
    EXPECT_GE(found.log.log_hi, v.log_delta - digits) << v.q << " " << v.k;
    EXPECT_LT(found.log.log_hi - found.log.log_lo, v.width) << v.q << " " << v.k;
  }
}

TEST(Accounting, EpsilonIsOnTheSafeSide) {
  // Published as 2.446734; here to 22 digits.
  const EpsilonEnclosure found = epsilon_of(steps(.01, 2, 10000), 1e-6);
  EXPECT_LE(found.lo, 2.446733944483725719460);
  EXPECT_GE(found.hi, 2.446733944483725719460);
  EXPECT_LT(found.hi - found.lo, 1e-9);
  EXPECT_LE(delta_of(steps(.01, 2, 10000), found.hi).hi(), 1e-6);
}

TEST(Accounting, NormalStepsAreGaussianPrivacy) {
  for (const double mu : {1e-3, 0.5, 3.0, 40.0}) {
    for (const double eps : {-2.0, 0.0, 0.1, 5.0}) {
      const DeltaEnclosure found = delta_of({{}, mu * mu}, eps);
      const GdpDelta truth = gdp_delta(mu, eps);
      EXPECT_LE(found.log.log_lo, truth.log_delta);
      EXPECT_GE(found.log.log_hi, truth.log_delta);
      EXPECT_LT(found.log.log_hi - found.log.log_lo, 1e-11 * (1 + std::fabs(truth.log_delta)));
      // And the contour agrees with the closed form.
      const LogEnclosure contour = contour_delta({{}, mu * mu}, eps);
      EXPECT_LE(contour.log_lo, truth.log_delta + 1e-12 * (1 + std::fabs(truth.log_delta)));
      EXPECT_GE(contour.log_hi, truth.log_delta - 1e-12 * (1 + std::fabs(truth.log_delta)));
    }
  }
}

TEST(Accounting, StepsOfOneKindMayBeListedInParts) {
  TotalLoss parts;
  for (const double k : {1.0, 999.0, 3000.0})
    parts.steps.push_back({.01, 1.0, k, StepDirection::remove});
  const DeltaEnclosure apart = delta_of(parts, 2.0), together = delta_of(steps(.01, 1, 4000), 2.0);
  EXPECT_LE(std::max(apart.log.log_lo, together.log.log_lo),
            std::min(apart.log.log_hi, together.log.log_hi));
  EXPECT_NEAR(apart.log.log_hi, together.log.log_hi, 1e-10);
}

TEST(Accounting, AdvantageIsTheSameInBothDirections) {
  const DeltaEnclosure removed = delta_of(steps(.02, 1.3, 500), 0.0);
  const DeltaEnclosure added = delta_of(steps(.02, 1.3, 500, StepDirection::add), 0.0);
  EXPECT_NEAR(removed.log.log_hi, added.log.log_hi, 1e-11);
}

TEST(Accounting, Edges) {
  EXPECT_EQ(delta_of({}, 0.0).hi(), 0.0);
  EXPECT_NEAR(delta_of({}, -1.0).hi(), -std::expm1(-1.0), 1e-15);
  EXPECT_EQ(delta_of(steps(.1, 1, 10), kInf).hi(), 0.0);
  // The loss of `add` is bounded by -k log(1 - q).
  EXPECT_EQ(delta_of(steps(.3, 1, 1, StepDirection::add), 0.5).hi(), 0.0);
  EXPECT_EQ(delta_of(steps(.3, 1, 7, StepDirection::add), 3.0).hi(), 0.0);
  EXPECT_GT(delta_of(steps(.3, 1, 7, StepDirection::add), 1.0).hi(), 0.0);
  EXPECT_EQ(epsilon_of(steps(.1, 1, 10), 0.9999).hi, 0.0);
  EXPECT_EQ(epsilon_of(steps(.1, 1, 10), 0.0).hi, kInf);
  EXPECT_LT(epsilon_of(steps(.3, 1, 7, StepDirection::add), 0.0).hi, 2.5);
}

TEST(Accounting, RefusesWhatIsNoStep) {
  for (const TotalLoss& wrong :
       {steps(0, 1, 1), steps(1, 1, 1), steps(1.5, 1, 1), steps(.1, 0, 1), steps(.1, -1, 1),
        steps(.1, 1, 0), steps(.1, 1, 1.5), steps(.1, 1, kInf), steps(std::nan(""), 1, 1)}) {
    EXPECT_THROW((void)delta_of(wrong, 1.0), InvalidArgument);
  }
  EXPECT_THROW((void)delta_of(steps(.1, 1, 1), std::nan("")), InvalidArgument);
  EXPECT_THROW((void)epsilon_of(steps(.1, 1, 1), 1.0), InvalidArgument);
  EXPECT_THROW((void)epsilon_of(steps(.1, 1, 1), -0.1), InvalidArgument);
}

TEST(Accounting, GrowsWithRateAndStepsAndFallsWithNoiseAndEpsilon) {
  const auto hi = [](double q, double sigma, double k, double eps) {
    return delta_of(steps(q, sigma, k), eps).log.log_hi;
  };
  const double here = hi(.01, 1, 1000, 1);
  EXPECT_GT(hi(.011, 1, 1000, 1), here);
  EXPECT_GT(hi(.01, 1, 1100, 1), here);
  EXPECT_LT(hi(.01, 1.1, 1000, 1), here);
  EXPECT_LT(hi(.01, 1, 1000, 1.1), here);
}

}  // namespace
}  // namespace sfumato
