// Cumulants at real s against 50 digits, whole and cut in two.
#include "sfumato/account/contour/real_grid.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/account/steps/sampled_gaussian.hpp"
#include "support/accounting_reference.hpp"

namespace sfumato {
namespace {

using reference::Real;
using enum StepDirection;

/// The integral of phi r^power(s) share(z), by the trapezoidal rule on a fine grid of exact points.
template <class Share>
Real moment(double q, double m, StepDirection direction, double s, const Share& share) {
  constexpr double kStep = 1.0 / 32;
  const double reach = std::ceil(15.0 + m * (1.0 + 2.0 * std::fabs(s)));
  const Real power = direction == remove ? Real(1 + Real(s)) : Real(-Real(s));
  Real sum = 0;
  for (double z = -reach; z <= reach; z += kStep) {
    sum += kStep * reference::density(Real(z)) * exp(power * reference::log_r(q, m, Real(z))) *
           share(z);
  }
  return sum;
}

TEST(RealGrid, CumulantsAreWithinTheirErrors) {
  for (const auto& [q, m, direction] :
       {std::tuple{.01, 1.0, remove}, {1e-5, .5, remove}, {.3, 2.0, remove}, {.05, 1.0, add}}) {
    RealGrid grid(*SampledGaussian{q, m, 100, direction}.as_ratio());
    // To the right and back: points that are there serve smaller s.
    for (const double s : {0.5, 3.0, 0.0, 1.7}) {
      const auto found = grid.at(s);
      ASSERT_TRUE(found) << q << " " << s;
      const Real truth = log(moment(q, m, direction, s, [](double) { return Real(1); }));
      EXPECT_LE(abs(truth - found->value), Real(found->error)) << q << " " << s;
      EXPECT_LT(found->error, 1e-13 * (1.0 + std::fabs(found->value))) << q << " " << s;
      EXPECT_GE(found->variance, 0.0);
    }
  }
}

TEST(RealGrid, TheMeanIsTheSlope) {
  RealGrid grid(*SampledGaussian{.02, 1.0, 1, remove}.as_ratio());
  const double s = 2.0, h = 1e-4;
  const double slope = (grid.at(s + h)->value - grid.at(s - h)->value) / (2.0 * h);
  EXPECT_NEAR(grid.at(s)->mean, slope, 1e-8);
}

TEST(RealGrid, ACutLeavesTwoPartsThatAddUp) {
  for (const auto& [q, m, at, width] :
       {std::tuple{.01, 1.5, 3.0, .4}, {1e-3, 1.0, 4.5, .8}, {.05, 3.0, 2.0, .2}}) {
    const SplitPoint cut{at, width};
    RealGrid grid(*SampledGaussian{q, m, 10, remove}.as_ratio(), cut);
    for (const double s : {0.0, 3.0}) {
      const auto split = grid.split_at(s);
      const auto rest = grid.unsampled_at(s);
      ASSERT_TRUE(split && rest);
      const auto reference_share = [&](double z) {
        return reference::tail(Real((Real(cut.at) - z) / cut.width));
      };
      const Real whole = moment(q, m, remove, s, [](double) { return Real(1); });
      const Real sampled = moment(q, m, remove, s, reference_share);
      EXPECT_LE(abs(log(whole) - split->all.value), Real(split->all.error));
      EXPECT_LE(abs(sampled / whole / split->sampled_share - 1), Real(split->sampled_error));
      // An upper bound, and near.
      EXPECT_GE(Real(rest->log), log(whole - sampled));
      EXPECT_LT(rest->log, static_cast<double>(log(whole - sampled)) + 1e-11);
    }
  }
}

TEST(RealGrid, RefusesAbscissasThatItsPointsDoNotReach) {
  RealGrid grid(*SampledGaussian{.01, 1.0, 1, remove}.as_ratio());
  EXPECT_FALSE(grid.at(1e4));
}

}  // namespace
}  // namespace sfumato
