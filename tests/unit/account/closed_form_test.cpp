#include "sfumato/account/accountant/closed_form.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/core/infinity.hpp"
#include "support/accounting_transforms.hpp"

namespace sfumato {
namespace {

using namespace reference;
using enum StepDirection;

TEST(ClosedForm, OfOneStepHoldsTheTruth) {
  for (const auto& [q, m] : {std::pair{.01, 1.0}, {.2, .5}, {1e-4, 3.0}}) {
    for (const StepDirection direction : {remove, add}) {
      const TotalLoss loss{{SampledGaussian{q, m, 1, direction}}};
      for (const double eps : {-0.3, 0.0, 1e-3, 0.1}) {
        const Real truth = one_step_delta(q, m, direction, Real(eps));
        if (truth < 1e-40) continue;
        const auto found = closed_form_delta(loss, eps);
        ASSERT_TRUE(found);
        expect_inside(*found, truth, kInf, std::to_string(q) + " " + std::to_string(eps));
      }
    }
  }
}

TEST(ClosedForm, OfNormalNoiseIsGaussianPrivacy) {
  for (const double mu : {0.1, 1.0, 5.0}) {
    for (const double eps : {0.0, 0.5, 3.0}) {
      const Real m(mu), e(eps);
      const Real truth = tail(Real(e / m - m / 2)) - exp(e) * tail(Real(e / m + m / 2));
      const auto found = closed_form_delta({{}, mu * mu}, eps);
      ASSERT_TRUE(found);
      expect_inside(*found, truth, 1e-9, std::to_string(mu) + " " + std::to_string(eps));
    }
  }
}

TEST(ClosedForm, KnowsTheEndsAndNothingOfManySteps) {
  const TotalLoss bounded{{SampledGaussian{.1, 1, 7, add}}};
  ASSERT_TRUE(closed_form_delta(bounded, -7.1 * std::log1p(-.1)));
  EXPECT_EQ(closed_form_delta(bounded, -7.1 * std::log1p(-.1))->log_hi, -kInf);
  EXPECT_EQ(closed_form_delta(bounded, kInf)->log_hi, -kInf);
  EXPECT_FALSE(closed_form_delta(bounded, 0.1));
}

}  // namespace
}  // namespace sfumato
