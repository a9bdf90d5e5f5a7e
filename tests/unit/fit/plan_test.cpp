#include "sfumato/fit/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sfumato/core/error.hpp"
#include "support/synthetic_table.hpp"

namespace sfumato {
namespace {

FitPlan planned(std::uint64_t rows, double epsilon, FitMechanism mechanism) {
  FitSettings settings;
  settings.range_share = 0.0;
  return plan_fit(declared_table(rows), FitModel::ridge, mechanism, settings,
                  {{Epsilon(epsilon), Delta(1e-6)}});
}

/// What the releases of the fitted rows spend together.
double budget_of(const FitPlan& plan) {
  double square = 0.0;
  for (const FitRelease& release : plan.releases) square += release.mu * release.mu;
  return std::sqrt(square);
}

TEST(Plans, ClipLessTheMoreRowsThereAre) {
  double before = 0.0;
  for (const std::uint64_t rows : {100U, 1000U, 10'000U, 100'000U}) {
    const double clip = planned(rows, 1.0, FitMechanism::whitened).descent()->clip_factor;
    EXPECT_GE(clip, before) << rows;
    before = clip;
  }
  EXPECT_LT(planned(100, 1.0, FitMechanism::whitened).descent()->clip_factor, 0.5);
  EXPECT_GT(before, 0.5);
}

TEST(Plans, OfSquaresInAMetricMakeMoreStepsTheMoreRowsThereAre) {
  const auto predicted = [](std::uint64_t rows) {
    FitSettings settings;
    settings.range_share = 0.0;
    settings.steps = 24;
    const FitPlan plan = plan_fit(declared_table(rows), FitModel::ridge, FitMechanism::whitened,
                                  settings, {{Epsilon(1.0), Delta(1e-6)}});
    return predicted_loss(plan, declared_table(rows));
  };
  EXPECT_GT(predicted(3000), 0.0005);
  EXPECT_EQ(planned(3000, 1.0, FitMechanism::whitened).descent()->steps, 24U);
  EXPECT_LT(predicted(10'000), 0.0005);
  EXPECT_GT(predicted(10'000), 0.0001);
  EXPECT_EQ(planned(10'000, 1.0, FitMechanism::whitened).descent()->steps, 96U);
  EXPECT_LT(predicted(60'000), 0.0001);
  const FitPlan many = planned(60'000, 1.0, FitMechanism::whitened);
  EXPECT_EQ(many.descent()->steps, 192U);
  EXPECT_EQ(many.descent()->average_last, 128U);
  // The noise of a step grows with the root of the steps: together they cost what fewer would.
  EXPECT_NEAR(budget_of(many), many.mu, 1e-12 * many.mu);
  const FitBudget budget{{Epsilon(1.0), Delta(1e-6)}};
  EXPECT_LE(
      accountant_of(many, declared_table(60'000), budget).guarantee(Delta(1e-6)).epsilon().nats(),
      1.0);
  FitSettings settings;
  settings.steps = 30;
  EXPECT_EQ(
      plan_fit(declared_table(60'000), FitModel::ridge, FitMechanism::whitened, settings, budget)
          .descent()
          ->steps,
      30U);
}

TEST(Plans, ClipLaterThanUsualAndLengthenRowsAlikeWhereNoiseIsTiny) {
  const auto usual = planned(10'000, 1.0, FitMechanism::whitened);
  EXPECT_EQ(usual.descent()->clip_factor, 0.9);
  EXPECT_EQ(usual.metric()->rows_in_metric, kRowsInMetric);
  double before = 0.9;
  for (const double epsilon : {3.0, 8.0, 30.0}) {
    const FitPlan plan = planned(60'000, epsilon, FitMechanism::whitened);
    EXPECT_GT(plan.descent()->clip_factor, before) << epsilon;
    // Rows that pull later are in the metric for as long: else a step of size 1 overshoots along them.
    EXPECT_NEAR(plan.metric()->rows_in_metric, kRowsInMetric * plan.descent()->clip_factor / 0.9,
                1e-12)
        << epsilon;
    EXPECT_LT(predicted_loss(plan, declared_table(60'000)), 0.0002) << epsilon;
    EXPECT_NEAR(budget_of(plan), plan.mu, 1e-12 * plan.mu);
    before = std::min(plan.descent()->clip_factor, 3.5);
  }
  FitSettings settings;
  settings.clip_factor = 0.9;
  const FitPlan given = plan_fit(declared_table(60'000), FitModel::ridge, FitMechanism::whitened,
                                 settings, {{Epsilon(8.0), Delta(1e-6)}});
  EXPECT_EQ(given.descent()->clip_factor, 0.9);
  EXPECT_EQ(given.metric()->rows_in_metric, kRowsInMetric);
}

TEST(Plans, OfClassesClipLaterAndMakeMoreStepsWhereNoiseIsSmall) {
  const auto of_classes = [](std::uint64_t rows, FitModel model, const FitSettings& settings) {
    PublicTable table = declared_table(rows);
    table.classes = {"a", "b"};
    if (model == FitModel::softmax) table.classes.insert(table.classes.end(), {"c", "d", "e"});
    return plan_fit(table, model, FitMechanism::whitened, settings, {{Epsilon(1.0), Delta(1e-6)}});
  };
  const FitSettings none;
  EXPECT_EQ(of_classes(500, FitModel::logistic, none).descent()->clip_factor, 0.5);
  EXPECT_EQ(of_classes(60'000, FitModel::logistic, none).descent()->clip_factor, 1.0);
  EXPECT_EQ(of_classes(60'000, FitModel::logistic, none).descent()->steps, 40U);
  EXPECT_EQ(of_classes(500, FitModel::softmax, none).descent()->steps, 40U);
  const FitPlan many = of_classes(60'000, FitModel::softmax, none);
  EXPECT_EQ(many.descent()->steps, 120U);
  EXPECT_EQ(many.descent()->average_last, 80U);
  EXPECT_EQ(many.descent()->clip_factor, 1.0);
  EXPECT_NEAR(budget_of(many), many.mu, 1e-12 * many.mu);
  FitSettings given;
  given.clip_factor = 0.5;
  given.steps = 40;
  EXPECT_EQ(of_classes(60'000, FitModel::softmax, given).descent()->clip_factor, 0.5);
  EXPECT_EQ(of_classes(60'000, FitModel::softmax, given).descent()->steps, 40U);
  FitSettings intervals;
  intervals.interval_share = 0.1;  // their curvature is that of rows no longer than the clip
  EXPECT_EQ(of_classes(60'000, FitModel::logistic, intervals).descent()->clip_factor,
            kRowsInMetric);
}

TEST(Choice, IsWhitenedUnlessAnotherIsClearlyBetter) {
  // A flat table: levels alone, for which a metric is no use, and predictions say so.
  PublicTable flat = declared_table(0);
  flat.features = {CategoryColumn{"a", {"u", "v"}}, CategoryColumn{"b", {"u", "v"}},
                   CategoryColumn{"c", {"u", "v"}}};
  const auto compared = [&](std::uint64_t rows, double epsilon) {
    flat.rows = rows;
    const FitBudget budget{{Epsilon(epsilon), Delta(1e-6)}};
    const auto loss = [&](FitMechanism mechanism) {
      return predicted_loss(plan_fit(flat, FitModel::ridge, mechanism, {}, budget), flat);
    };
    return std::pair{loss(FitMechanism::whitened) - loss(FitMechanism::isotropic),
                     choose_mechanism(flat, FitModel::ridge, {}, budget)};
  };
  const auto [unseen, of_many] = compared(100'000, 1.0);
  EXPECT_GT(unseen, 0.0);
  EXPECT_LT(unseen, 0.005);
  EXPECT_EQ(of_many, FitMechanism::whitened);
  const auto [clear, of_few] = compared(100, 0.3);
  EXPECT_GT(clear, 0.005);
  EXPECT_EQ(of_few, FitMechanism::isotropic);
}

TEST(Plans, LoseLessAtALargerEpsilonWithEveryMechanism) {
  for (const FitMechanism mechanism : mechanisms_of(FitModel::ridge, NoiseMode::grid)) {
    double before = 1e300;
    for (const double epsilon : {0.1, 0.3, 1.0, 3.0, 8.0}) {
      const double loss = predicted_loss(planned(2000, epsilon, mechanism), declared_table(2000));
      EXPECT_LT(loss, before) << name(mechanism) << " " << epsilon;
      before = loss;
    }
  }
}

TEST(Plans, IntervalsArePartOfTheBudget) {
  const SyntheticTable made = synthetic_table(FitModel::logistic, 1000, 2, 4);
  FitSettings settings;
  settings.interval_share = 0.2;
  const FitBudget budget{{Epsilon(2.0), Delta(1e-6)}, {}};
  const FitPlan plan =
      plan_fit(made.table, FitModel::logistic, FitMechanism::whitened, settings, budget);
  const double spent =
      accountant_of(plan, made.table, budget).guarantee(Delta(1e-6)).epsilon().nats();
  EXPECT_LE(spent, 2.0);
  EXPECT_GE(spent, 2.0 * (1.0 - 1e-6));
  EXPECT_EQ(choose_mechanism(made.table, FitModel::logistic, settings, budget),
            FitMechanism::whitened);
  for (const FitModel model : {FitModel::ridge, FitModel::softmax}) {
    EXPECT_THROW((void)plan_fit(synthetic_table(model, 100, 2, 4).table, model,
                                FitMechanism::whitened, settings, budget),
                 InvalidArgument);
  }
}

}  // namespace
}  // namespace sfumato
