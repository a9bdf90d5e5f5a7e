// Batches of a fixed size against 50 digits: the transform of one step, and the bound of its decay.
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "sfumato/account/accountant/profile.hpp"
#include "sfumato/core/infinity.hpp"
#include "support/accounting_reference.hpp"
#include "support/accounting_transforms.hpp"

namespace sfumato {
namespace {

using namespace reference;

/// The atom at 0, and losses of either sign for z > m/2.
Moment two_sided_moment(double q, double m, double s0, double y) {
  const Real s(s0), t(y);
  const auto part = [&](bool imaginary) {
    return [&, imaginary](const Real& z) {
      const Real loss = reference::log_r(q, m, z);
      const Real up = exp((1 + s) * loss), down = exp(-s * loss);
      return Real(reference::density(z) *
                  (imaginary ? (up - down) * sin(t * loss) : (up + down) * cos(t * loss)));
    };
  };
  Moment moment{(1 - Real(q)) * boost::math::erf(Real(Real(m) / 2 / sqrt(Real(2)))), 0};
  const double width = 15.0 + m * (2.0 + 2.0 * std::fabs(s0));
  for (int i = 0; i < 12; ++i) {
    const Real from = Real(m) / 2 + width * i / 12, to = Real(m) / 2 + Real(width) * (i + 1) / 12;
    moment.re += integral(part(false), from, to);
    moment.im += integral(part(true), from, to);
  }
  return moment;
}

TEST(TwoSidedGaussian, ItsDistributionHasItsTransform) {
  for (const auto& [q, m] : {std::pair{0.001, 2.0}, {0.2, 0.3}}) {
    for (const double s0 : {0.5, 4.0}) {
      const double reach = 10.0;
      expect_distribution(TwoSidedGaussian{q, m, 1}.tilted_distribution(s0, reach), reach,
                          [&, q = q, m = m](double y) { return two_sided_moment(q, m, s0, y); });
    }
  }
}

TEST(TwoSidedGaussian, ItsDecayIsBounded) {
  for (const auto& [q, m] : {std::pair{0.02, 2.0}, {0.3, 0.5}}) {
    const double s0 = 2.0;
    const TwoSidedGaussian step{q, m, 1};
    const TiltedDistribution distribution = step.tilted_distribution(s0, 0.0);
    const StepCumulant here{distribution.cumulant, distribution.mean, distribution.variance,
                            distribution.error_at(0.0)};
    const double unit = std::sqrt(distribution.variance);
    for (const double reach : {1.0 / unit, 4.0 / unit, 20.0 / unit}) {
      const DecayBound bound = step.log_bound_beyond(here, s0, reach, -0.3);
      if (reach > 2.0 / unit) {
        EXPECT_LT(bound.log_ratio, -0.2) << q << " " << reach;
      }
      for (const double times : {1.0, 1.3, 3.0}) {
        const Moment at = two_sided_moment(q, m, s0, times * reach);
        const Real modulus = sqrt(at.re * at.re + at.im * at.im);
        EXPECT_LE(log(modulus) - distribution.cumulant, Real(bound.log_ratio) + 1e-12)
            << times * reach;
      }
    }
  }
  // Nothing is known where the cumulant is not.
  const StepCumulant unknown{kInf, kInf, 1.0, kInf};
  EXPECT_EQ((TwoSidedGaussian{0.5, 4.0, 2}.log_bound_beyond(unknown, 0.2, 3.0, -18.0)).log_ratio,
            0.0);
}

}  // namespace
}  // namespace sfumato
