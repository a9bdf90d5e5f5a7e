// Distribution functions of losses against 50 digits: every mass between its ends.
#include "sfumato/account/lattice/loss_distribution.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/account/steps/step.hpp"
#include "support/accounting_reference.hpp"

namespace sfumato {
namespace {

using reference::Real;
using reference::tail;

void expect_within(const MassBounds& found, const Real& truth, double t) {
  EXPECT_LE(Real(found.lo), truth) << t;
  EXPECT_GE(Real(found.hi), truth) << t;
  EXPECT_LE(found.hi - found.lo, 1e-10 * found.hi + 1e-300) << t;
}

TEST(NormalLossDistribution, HasTheTailsOfItsNormalLosses) {
  for (const double mu : {1e-3, 0.7, 12.0}) {
    const LossDistribution distribution = normal_loss_distribution(mu * mu);
    EXPECT_TRUE(distribution.atoms.empty());
    for (const double share : {-4.0, -0.3, 0.0, 1.0, 6.0}) {
      const double t = share * mu;
      const LossTails at = distribution.tails(t);
      // L is normal with mean mu^2 / 2 under P and -mu^2 / 2 under Q.
      const Real m(mu), x(t);
      expect_within(at.p_above, tail(Real(x / m - m / 2)), t);
      expect_within(at.p_below, tail(Real(m / 2 - x / m)), t);
      expect_within(at.q_above, tail(Real(x / m + m / 2)), t);
      expect_within(at.q_below, tail(Real(-x / m - m / 2)), t);
    }
  }
}

TEST(LossDistribution, OfASampledStepIsThatOfItsMixture) {
  for (const auto& [q, m] : {std::pair{.01, 1.0}, {1e-4, .25}, {.4, 3.0}}) {
    const LossDistribution distribution =
        loss_distribution_of(SampledGaussian{q, m, 1, StepDirection::remove});
    for (const double t : {0.5 * std::log1p(-q), 1e-3, 0.4, 2.0}) {
      const LossTails at = distribution.tails(t);
      const Real z = log(1 + (exp(Real(t)) - 1) / Real(q)) / m + Real(m) / 2;
      expect_within(at.q_above, tail(z), t);
      expect_within(at.q_below, tail(Real(-z)), t);
      expect_within(at.p_above, (1 - Real(q)) * tail(z) + Real(q) * tail(Real(z - m)), t);
      expect_within(at.p_below, (1 - Real(q)) * tail(Real(-z)) + Real(q) * tail(Real(m - z)), t);
    }
    // No loss is below log(1 - q).
    const LossTails below = distribution.tails(1.5 * std::log1p(-q));
    EXPECT_EQ(below.p_below.hi, 0.0);
    EXPECT_EQ(below.q_below.hi, 0.0);
  }
}

TEST(OneStepDelta, IsTheDifferenceOfTheTails) {
  for (const auto& [q, m] : {std::pair{.01, 1.0}, {.2, .5}, {1e-3, 4.0}}) {
    for (const StepDirection direction : {StepDirection::remove, StepDirection::add}) {
      const LossDistribution distribution =
          loss_distribution_of(SampledGaussian{q, m, 1, direction});
      for (const double eps : {0.0, 0.01, 0.15}) {
        const Real truth = reference::one_step_delta(q, m, direction, Real(eps));
        const LogEnclosure found = one_step_delta(distribution, eps);
        if (truth <= 0) {
          EXPECT_LT(found.log_lo, -600.0);
          continue;
        }
        EXPECT_LE(Real(found.log_lo), log(truth)) << q << " " << m << " " << eps;
        EXPECT_GE(Real(found.log_hi), log(truth)) << q << " " << m << " " << eps;
      }
    }
  }
}

}  // namespace
}  // namespace sfumato
