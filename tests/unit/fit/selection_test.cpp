#include "sfumato/fit/selection.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/synthetic_table.hpp"

namespace sfumato {
namespace {

FitBudget budget_of(double epsilon) { return {{Epsilon(epsilon), Delta(1e-6)}, {}}; }

TEST(Selection, TakesTheBetterFitAndSpendsNoMoreThanTheBudget) {
  const SyntheticTable made = synthetic_table(FitModel::ridge, 6000, 3, 5);
  FitBudget budget = budget_of(3.0);
  budget.share = 0.5;
  FitSettings settings, useless;
  settings.range_share = 0.0;
  settings.holdout = 0.2;
  useless = settings;
  useless.learning_rate = 1e-6;  // stays where it starts
  const std::vector<FitPlan> plans = {
      plan_fit(made.table, FitModel::ridge, FitMechanism::isotropic, useless, budget),
      plan_fit(made.table, FitModel::ridge, FitMechanism::whitened, settings, budget)};
  double square = 0.0;
  Accountant all(made.table.relation);
  for (const FitPlan& plan : plans) {
    square += plan.mu * plan.mu;
    for (const FitRelease& release : plan.releases) all.compose(release.release);
  }
  EXPECT_LE(all.guarantee(Delta(1e-6)).epsilon().nats(), 3.0);
  EXPECT_GE(all.guarantee(Delta(1e-6)).epsilon().nats(), 3.0 * (1.0 - 1e-6));
  std::vector<ReleaseKey> keys;
  for (std::uint64_t k = 1; k <= 3; ++k) keys.push_back(ReleaseKey::from_seed(k));
  Observer nobody;
  const ChosenFit chosen =
      choose_fit(made.source(), made.table, plans, std::sqrt(square), keys, nobody);
  EXPECT_EQ(chosen.index, 1U);
  ASSERT_TRUE(chosen.fit.held_out.has_value());
  EXPECT_GT(chosen.fit.held_out->value, 0.5);
}

}  // namespace
}  // namespace sfumato
