// Values, edges and refusals of the contour accountant (Spec §17 and §18). The values are of 22 digits, computed elsewhere.
#include "sfumato/account/accountant/profile.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sfumato/account/contour/plain_transform.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/gdp.hpp"

namespace sfumato {
namespace {

TotalLoss steps(double q, double sigma, double k, StepDirection direction = StepDirection::remove) {
  return {{SampledGaussian{q, 1.0 / sigma, k, direction}}, 0.0};
}

struct Value {
  double q, sigma;
  StepDirection direction;
  double k, eps, log_delta, width;
};

TEST(Profile, EnclosesReferenceValues) {
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
                          {.1, 1, remove, 2, 1, -7.57297522176, 1e-11},     // rare sampled steps
                          {.0005, 1, remove, 500, 3, -57.5276178585, 1e-8}}) {
    const DeltaEnclosure found = delta_of(steps(v.q, v.sigma, v.k, v.direction), v.eps);
    // The references are given to 13 digits or more.
    const double digits = 1e-12 * std::fabs(v.log_delta) + 1e-12;
    EXPECT_LE(found.log.log_lo, v.log_delta + digits) << v.q << " " << v.k;
    EXPECT_GE(found.log.log_hi, v.log_delta - digits) << v.q << " " << v.k;
    EXPECT_LT(found.log.log_hi - found.log.log_lo, v.width) << v.q << " " << v.k;
  }
}

TEST(Profile, EpsilonIsOnTheSafeSide) {
  // Published as 2.446734; here to 22 digits.
  const EpsilonEnclosure found = epsilon_of(steps(.01, 2, 10000), 1e-6);
  EXPECT_LE(found.lo, 2.446733944483725719460);
  EXPECT_GE(found.hi, 2.446733944483725719460);
  EXPECT_LT(found.hi - found.lo, 1e-9);
  EXPECT_LE(delta_of(steps(.01, 2, 10000), found.hi).hi(), 1e-6);
}

TEST(Profile, NormalStepsAreGaussianPrivacy) {
  for (const double mu : {1e-3, 0.5, 3.0, 40.0}) {
    for (const double eps : {-2.0, 0.0, 0.1, 5.0}) {
      const DeltaEnclosure found = delta_of({{}, mu * mu}, eps);
      const GdpDelta truth = gdp_delta(mu, eps);
      EXPECT_LE(found.log.log_lo, truth.log_delta);
      EXPECT_GE(found.log.log_hi, truth.log_delta);
      EXPECT_LT(found.log.log_hi - found.log.log_lo, 1e-11 * (1 + std::fabs(truth.log_delta)));
      // And the contour agrees with the closed form.
      Work work;
      PlainTransform transform({{}, mu * mu}, &work);
      const Saddle at = saddle(transform, eps, Strip::right, 1.0);
      const auto contour = Contour::through(transform, at, Strip::right, eps, &work);
      ASSERT_TRUE(contour);
      const LogEnclosure on_it = contour->enclosure(eps);
      EXPECT_LE(on_it.log_lo, truth.log_delta + 1e-12 * (1 + std::fabs(truth.log_delta)));
      EXPECT_GE(on_it.log_hi, truth.log_delta - 1e-12 * (1 + std::fabs(truth.log_delta)));
      EXPECT_LT(on_it.log_hi - on_it.log_lo, 1e-9 * (1 + std::fabs(truth.log_delta)));
    }
  }
}

TEST(Profile, StepsOfOneKindMayBeListedInParts) {
  TotalLoss parts;
  for (const double k : {1.0, 999.0, 3000.0})
    parts.steps.push_back(SampledGaussian{.01, 1.0, k, StepDirection::remove});
  const DeltaEnclosure apart = delta_of(parts, 2.0), together = delta_of(steps(.01, 1, 4000), 2.0);
  EXPECT_LE(std::max(apart.log.log_lo, together.log.log_lo),
            std::min(apart.log.log_hi, together.log.log_hi));
  EXPECT_NEAR(apart.log.log_hi, together.log.log_hi, 1e-10);
}

TEST(Profile, AdvantageIsTheSameInBothDirections) {
  const DeltaEnclosure removed = delta_of(steps(.02, 1.3, 500), 0.0);
  const DeltaEnclosure added = delta_of(steps(.02, 1.3, 500, StepDirection::add), 0.0);
  EXPECT_NEAR(removed.log.log_hi, added.log.log_hi, 1e-11);
}

TEST(Profile, Edges) {
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

TEST(Profile, RefusesWhatIsNoStep) {
  for (const TotalLoss& wrong :
       {steps(0, 1, 1), steps(1, 1, 1), steps(1.5, 1, 1), steps(.1, 0, 1), steps(.1, -1, 1),
        steps(.1, 1, 0), steps(.1, 1, 1.5), steps(.1, 1, kInf), steps(std::nan(""), 1, 1)}) {
    EXPECT_THROW((void)delta_of(wrong, 1.0), InvalidArgument);
  }
  EXPECT_THROW((void)delta_of(steps(.1, 1, 1), std::nan("")), InvalidArgument);
  EXPECT_THROW((void)epsilon_of(steps(.1, 1, 1), 1.0), InvalidArgument);
  EXPECT_THROW((void)epsilon_of(steps(.1, 1, 1), -0.1), InvalidArgument);
}

TEST(Profile, GrowsWithRateAndStepsAndFallsWithNoiseAndEpsilon) {
  const auto hi = [](double q, double sigma, double k, double eps) {
    return delta_of(steps(q, sigma, k), eps).log.log_hi;
  };
  const double here = hi(.01, 1, 1000, 1);
  EXPECT_GT(hi(.011, 1, 1000, 1), here);
  EXPECT_GT(hi(.01, 1, 1100, 1), here);
  EXPECT_LT(hi(.01, 1.1, 1000, 1), here);
  EXPECT_LT(hi(.01, 1, 1000, 1.1), here);
}

TEST(Profile, EnclosesReferenceValuesOfOtherSteps) {
  const auto encloses = [](const TotalLoss& loss, double eps, double log_delta, double width) {
    const DeltaEnclosure found = delta_of(loss, eps);
    EXPECT_LE(found.log.log_lo, log_delta + 1e-12) << log_delta;
    EXPECT_GE(found.log.log_hi, log_delta - 1e-12) << log_delta;
    EXPECT_LT(found.log.log_hi - found.log.log_lo, width) << log_delta;
  };
  using enum StepDirection;
  encloses({{GroupGaussian{.01, .5, 3, 2000, remove}}}, 2.0, std::log(0.0016232137318593733),
           1e-10);
  encloses({{GroupGaussian{.01, 1, 1, 1000, remove}}}, 1.0, std::log(0.002612420578626924), 1e-10);
  encloses({{TwoSidedGaussian{.05, .5, 400}}}, 3.0, std::log(3.7339491780915843e-07), 1e-10);
  encloses({{TwoSidedGaussian{.001, 1, 100000}}}, 1.0, std::log(0.010782650087065917), 0.1);
  // One answer with odds e^eps0 discloses (e^eps0 - e^eps) / (1 + e^eps0).
  encloses({{RandomisedResponse{1.0, 1}}}, 0.5,
           std::log((std::exp(1.0) - std::exp(0.5)) / (1 + std::exp(1.0))), 0.1);
  // One Laplace step: 1 - e^{(eps - eps0)/2}.
  encloses({{LaplaceStep{1.0, 1}}}, 0.5, std::log(-std::expm1(-0.25)), 0.1);
}

TEST(Profile, NoiselessStepsAreFailuresAndShifts) {
  const double q = 0.3, rest = delta_of(steps(.01, 1, 100), 0.5).log.log_hi;
  TotalLoss replaced = steps(.01, 1, 100);
  add_noiseless(replaced, q, 2, StepDirection::replace);
  EXPECT_NEAR(delta_of(replaced, 0.5).hi(), 0.51 + 0.49 * std::exp(rest), 1e-12);
  TotalLoss removed, added;
  add_noiseless(removed, q, 2, StepDirection::remove);
  add_noiseless(added, q, 2, StepDirection::add);
  EXPECT_NEAR(delta_of(removed, 0.5).hi(), 0.51, 1e-12);
  EXPECT_NEAR(delta_of(added, 0.5).hi(), 1 - std::exp(0.5) * 0.49, 1e-12);
  EXPECT_NEAR(delta_of(exchanged(removed), 0.5).hi(), delta_of(added, 0.5).hi(), 1e-12);
  EXPECT_NEAR(delta_of(exchanged(added), 0.5).hi(), 0.51, 1e-12);
  EXPECT_EQ(epsilon_of(removed, 0.5).hi, kInf);
  EXPECT_NEAR(epsilon_of(removed, 0.52).hi, 0.0, 1e-12);
  TotalLoss certain;
  add_noiseless(certain, 1.0, 1, StepDirection::add);
  EXPECT_NEAR(delta_of(certain, 3.0).lo(), 1.0, 1e-15);
  TotalLoss failing = steps(.01, 1, 100);
  add_failures(failing, 1e-3, 1);
  EXPECT_NEAR(delta_of(failing, 0.5).hi(), 1e-3 + 0.999 * std::exp(rest), 1e-12);
}

TEST(Profile, TailsAreThoseOfTheNormalDistribution) {
  const double mu = 1.3, eps = 0.7;
  const TailEnclosure found = tail_of({{}, mu * mu}, eps);
  const auto tail = [](double x) { return 0.5 * std::erfc(x / std::sqrt(2.0)); };
  const double p = std::log(tail(eps / mu - 0.5 * mu)), q = std::log(tail(eps / mu + 0.5 * mu));
  EXPECT_LE(found.p.log_lo, p);
  EXPECT_GE(found.p.log_hi, p);
  EXPECT_LE(found.q.log_lo, q);
  EXPECT_GE(found.q.log_hi, q);
  EXPECT_LT(found.q.log_hi - found.q.log_lo, 1e-4);
}

}  // namespace
}  // namespace sfumato
