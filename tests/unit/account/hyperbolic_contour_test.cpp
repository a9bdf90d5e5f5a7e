// Few steps on a hyperbola (Spec §18.10), against 50 digits.
#include "sfumato/account/contour/hyperbolic_contour.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "sfumato/account/accountant/profile.hpp"
#include "sfumato/account/contour/delta_curve.hpp"
#include "sfumato/account/contour/plain_transform.hpp"
#include "support/accounting_reference.hpp"

namespace sfumato {
namespace {

using reference::Real;
using enum StepDirection;

TotalLoss steps(double q, double sigma, double k, StepDirection direction = remove) {
  return {{SampledGaussian{q, 1.0 / sigma, k, direction}}};
}

TEST(HyperbolicContour, TwoStepsAreOneIntegral) {
  for (const auto& [q, sigma, eps] :
       {std::array{.01, .6, 2.8}, std::array{.01, 1.0, 0.0}, std::array{1e-3, .8, .5}}) {
    const double m = 1.0 / sigma;
    const Real truth = log(reference::two_step_delta(q, m, remove, eps));
    const LogEnclosure found = delta_of(steps(q, sigma, 2.0), eps).log;
    EXPECT_LE(Real(found.log_lo), truth) << q << " " << sigma << " " << eps;
    EXPECT_GE(Real(found.log_hi), truth) << q << " " << sigma << " " << eps;
    EXPECT_LT(found.log_hi - found.log_lo, 5e-7) << q << " " << sigma << " " << eps;
  }
}

TEST(HyperbolicContour, ServesTheEpsilonsNearItsOwn) {
  const TotalLoss loss = steps(.01, .6, 10.0);
  Work work;
  PlainTransform plain(loss, &work);
  const auto contour = HyperbolicContour::at(loss, saddle(plain, 3.0, Strip::right, 1.0), 3.0);
  ASSERT_TRUE(contour);
  double last = 0.0;
  for (const double eps : {2.6, 2.8, 3.0, 3.2, 3.5}) {
    const LogEnclosure found = contour->enclosure(eps), other = delta_of(loss, eps).log;
    EXPECT_LT(found.log_hi - found.log_lo, 1e-9) << eps;
    EXPECT_LE(std::max(found.log_lo, other.log_lo), std::min(found.log_hi, other.log_hi)) << eps;
    EXPECT_LT(found.log_hi, last);
    last = found.log_lo;
  }
  const double slope = (contour->enclosure(3.001).log_hi - contour->enclosure(2.999).log_hi) / 2e-3;
  EXPECT_NEAR(contour->log_slope(3.0), slope, 1e-4);
  EXPECT_FALSE(HyperbolicContour::at(steps(.01, .6, 10.0, add), {1.0, {}}, 3.0));
}

TEST(HyperbolicContour, FewStepsAreAsNarrowAsMany) {
  for (const double k : {2.0, 3.0, 10.0, 30.0, 100.0}) {
    for (const double sigma : {.5, .6, 1.0}) {
      const EpsilonEnclosure found = epsilon_of(steps(.01, sigma, k), 1e-6);
      EXPECT_GT(found.lo, 0.0);
      EXPECT_LT(found.hi - found.lo, 1e-8 * found.hi) << k << " " << sigma;
    }
  }
}

TEST(HyperbolicContour, UnequalStepsAreComposed) {
  // Two kinds of steps, and the same in one kind.
  const TotalLoss split{
      {SampledGaussian{.01, 1.5, 4.0, remove}, SampledGaussian{.01, 1.5, 6.0, remove}}};
  const TotalLoss joined{{SampledGaussian{.01, 1.5, 10.0, remove}}};
  for (const double eps : {.3, 2.0}) {
    const LogEnclosure a = delta_of(split, eps).log, b = delta_of(joined, eps).log;
    EXPECT_LE(std::max(a.log_lo, b.log_lo), std::min(a.log_hi, b.log_hi));
    EXPECT_LT(a.log_hi - a.log_lo, 1e-9);
  }
  // More of anything is more.
  const TotalLoss other{
      {SampledGaussian{.01, 1.5, 4.0, remove}, SampledGaussian{.02, 1.2, 6.0, remove}}};
  EXPECT_GT(delta_of(other, .3).log.log_lo, delta_of(steps(.01, 1.0 / 1.5, 4.0), .3).log.log_hi);
}

/// A contour that is narrow where it was made may say nothing at the end of the region that it serves.
TEST(HyperbolicContour, RegionsAreNarrowUpToTheirEnds) {
  const TotalLoss loss{{SampledGaussian{1.7487432e-4, 3.9466837, 10, remove},
                        SampledGaussian{3.4293410e-4, 0.23598188, 59, remove}}};
  DeltaCurve curve(loss);
  for (double eps = 13.46; eps < 19.0; eps *= 1.02) {
    const LogEnclosure log = curve.at(eps).log;
    EXPECT_LT(log.log_hi - log.log_lo, 1e-5) << eps;
  }
}

}  // namespace
}  // namespace sfumato
