#include "sfumato/fit/canary.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/synthetic_table.hpp"

namespace sfumato {
namespace {

FitBudget budget_of(double epsilon) { return {{Epsilon(epsilon), Delta(1e-6)}, {}}; }

TEST(CanaryScore, NeverShowsMoreThanIsProven) {
  // The score is a likelihood ratio of normal distributions: its two means are mu^2 apart, by its own deviation mu.
  Observer nobody;
  for (const FitModel model : {FitModel::ridge, FitModel::logistic}) {
    const SyntheticTable made = synthetic_table(model, 1000, 2, 1);
    for (const FitMechanism mechanism : mechanisms_of(model, NoiseMode::grid)) {
      FitSettings settings;
      settings.range_share = 0.0;
      if (mechanism == FitMechanism::isotropic) settings.steps = 20;
      const FitPlan plan = plan_fit(made.table, model, mechanism, settings, budget_of(4.0));
      constexpr int kRuns = 200;
      double with = 0.0, without = 0.0, squares = 0.0;
      for (int i = 0; i < kRuns; ++i) {
        const double in =
            canary_score(made.table, plan, true,
                         ReleaseKey::from_seed(static_cast<std::uint64_t>(2 * i)), nobody);
        const double out =
            canary_score(made.table, plan, false,
                         ReleaseKey::from_seed(static_cast<std::uint64_t>(2 * i + 1)), nobody);
        with += in / kRuns, without += out / kRuns, squares += out * out / kRuns;
      }
      const double deviation = std::sqrt(squares - without * without);
      const double shown = (with - without) / deviation;
      // A standard error of sqrt(2/200) (1 + mu^2/8): false alarm below 1e-5.
      const double error = std::sqrt(2.0 / kRuns) * (1.0 + plan.mu * plan.mu / 8.0);
      EXPECT_LE(shown, plan.mu + 4.5 * error) << name(model) << " " << name(mechanism);
      EXPECT_GE(shown, (mechanism == FitMechanism::minimiser ? 0.4 : 0.85) * plan.mu - 4.5 * error)
          << name(model) << " " << name(mechanism);
    }
  }
}

}  // namespace
}  // namespace sfumato
