#include "sfumato/fit/private_fit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string_view>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/fit/canary.hpp"
#include "support/synthetic_table.hpp"

namespace sfumato {
namespace {

FitBudget budget_of(double epsilon, double delta = 1e-6) {
  return {{Epsilon(epsilon), Delta(delta)}, {}};
}
FitSettings plain_settings() {
  FitSettings settings;
  settings.range_share = 0.0;
  return settings;
}

double r2_of(const SyntheticTable& made, const Eigen::MatrixXd& parameters) {
  const Eigen::VectorXd residual = made.rows.features * parameters.col(0) - made.rows.target;
  const Eigen::VectorXd centred = made.rows.target.array() - made.rows.target.mean();
  return 1.0 - residual.squaredNorm() / centred.squaredNorm();
}

TEST(PrivateFit, EveryMechanismFindsTheSignalOfManyRows) {
  const SyntheticTable made = synthetic_table(FitModel::ridge, 20'000, 3, 1);
  Observer nobody;
  for (const FitMechanism mechanism : {FitMechanism::whitened, FitMechanism::isotropic,
                                       FitMechanism::statistics, FitMechanism::minimiser}) {
    const FitPlan plan =
        plan_fit(made.table, FitModel::ridge, mechanism, plain_settings(), budget_of(5.0));
    const PrivateFit fit =
        private_fit(made.source(), made.table, plan, ReleaseKey::from_seed(4), nobody);
    EXPECT_GT(r2_of(made, fit.parameters), 0.65) << name(mechanism);
    ASSERT_TRUE(fit.held_out.has_value());
    EXPECT_TRUE(fit.held_out->resolved);
    EXPECT_NEAR(fit.held_out->value, r2_of(made, fit.parameters), 5.0 * fit.held_out->error + 0.03)
        << name(mechanism);
  }
}

TEST(PrivateFit, ClassesAreFoundToo) {
  Observer nobody;
  for (const FitModel model : {FitModel::logistic, FitModel::softmax}) {
    const SyntheticTable made = synthetic_table(model, 4000, 3, 2);
    for (const NoiseMode mode : {NoiseMode::grid, NoiseMode::gaussian}) {
      for (const FitMechanism mechanism : mechanisms_of(model, mode)) {
        FitSettings settings = plain_settings();
        settings.noise_mode = mode;
        if (mechanism == FitMechanism::isotropic) settings.steps = 60;
        const FitPlan plan = plan_fit(made.table, model, mechanism, settings, budget_of(8.0));
        const PrivateFit fit =
            private_fit(made.source(), made.table, plan, ReleaseKey::from_seed(5), nobody);
        ASSERT_TRUE(fit.held_out.has_value());
        EXPECT_GT(fit.held_out->value, model == FitModel::logistic ? 0.7 : 0.5)
            << name(model) << " " << name(mechanism);
      }
    }
  }
}

TEST(PrivateFit, SpendsTheBudgetAndNoMore) {
  for (const NeighbouringRelation relation :
       {NeighbouringRelation::add_remove, NeighbouringRelation::zero_out,
        NeighbouringRelation::replace_one}) {
    for (const double epsilon : {0.1, 1.0, 8.0}) {
      SyntheticTable made = synthetic_table(FitModel::logistic, 100, 3, 1);
      made.table.relation = relation;
      for (const NoiseMode mode : {NoiseMode::grid, NoiseMode::gaussian}) {
        for (const FitMechanism mechanism : mechanisms_of(FitModel::logistic, mode)) {
          FitSettings settings;
          settings.noise_mode = mode;
          FitBudget budget = budget_of(epsilon);
          const FitPlan plan =
              plan_fit(made.table, FitModel::logistic, mechanism, settings, budget);
          const double spent =
              accountant_of(plan, made.table, budget).guarantee(Delta(1e-6)).epsilon().nats();
          EXPECT_LE(spent, epsilon) << name(mechanism);
          EXPECT_GE(spent, epsilon * (1.0 - 1e-6)) << name(mechanism);
          double square = 0.0;
          for (const FitRelease& release : plan.releases) square += release.mu * release.mu;
          EXPECT_NEAR(std::sqrt(square), plan.mu, 1e-12 * plan.mu);
        }
      }
    }
  }
}

TEST(PrivateFit, ComposesWithWhatWasBefore) {
  const SyntheticTable made = synthetic_table(FitModel::ridge, 1000, 3, 1);
  const FitPlan first =
      plan_fit(made.table, FitModel::ridge, FitMechanism::whitened, {}, budget_of(1.0));
  FitBudget second = budget_of(2.0);
  for (const FitRelease& release : first.releases) second.before.push_back(release.release);
  const FitPlan next = plan_fit(made.table, FitModel::ridge, FitMechanism::whitened, {}, second);
  EXPECT_LE(accountant_of(next, made.table, second).guarantee(Delta(1e-6)).epsilon().nats(), 2.0);
  EXPECT_LT(next.mu,
            plan_fit(made.table, FitModel::ridge, FitMechanism::whitened, {}, budget_of(2.0)).mu);
  FitBudget spent = budget_of(0.9);
  spent.before = second.before;
  EXPECT_THROW((void)plan_fit(made.table, FitModel::ridge, FitMechanism::whitened, {}, spent),
               InvalidArgument);
}

TEST(PrivateFit, IsTheSameBitsInAnyOrderOfTheRows) {
  // Of any number of rows modulo the width of vectors, and with null records between them.
  FitSettings settings = plain_settings();
  settings.holdout = 0.0;
  settings.steps = 6;
  settings.average_last = 2;
  Observer nobody;
  for (const Eigen::Index n : {997, 998, 999, 1100}) {
    for (const Eigen::Index d : {2, 6, 17}) {
      const SyntheticTable made = synthetic_table(FitModel::ridge, n, d, 3);
      SyntheticTable other = made, padded = made;
      other.rows.features.colwise().reverseInPlace();
      other.rows.target.reverseInPlace();
      padded.rows.features = RowMajor::Zero(n + 1, d + 1);
      padded.rows.features.bottomRows(n) = made.rows.features;
      padded.rows.target = Eigen::VectorXd::Zero(n + 1);
      padded.rows.target.tail(n) = made.rows.target;
      for (const FitMechanism mechanism :
           {FitMechanism::whitened, FitMechanism::isotropic, FitMechanism::statistics}) {
        const FitPlan plan =
            plan_fit(made.table, FitModel::ridge, mechanism, settings, budget_of(1.0));
        const auto fitted = [&](const SyntheticTable& from) {
          return private_fit(from.source(), made.table, plan, ReleaseKey::from_seed(6), nobody)
              .parameters;
        };
        EXPECT_EQ(fitted(made), fitted(other)) << name(mechanism) << " " << n << " " << d;
        EXPECT_EQ(fitted(made), fitted(padded)) << name(mechanism) << " " << n << " " << d;
      }
    }
  }
}

TEST(PrivateFit, TellsNobodyHowManyRowsThereAre) {
  struct Listener final : Observer {
    void progress(std::string_view, std::uint64_t, std::uint64_t total) override {
      totals.push_back(total);
    }
    std::vector<std::uint64_t> totals;
  };
  const SyntheticTable made = synthetic_table(FitModel::ridge, 5000, 2, 3);
  const FitPlan plan = plan_fit(made.table, FitModel::ridge, FitMechanism::whitened,
                                plain_settings(), budget_of(1.0));
  Listener listener;
  (void)private_fit(made.source(), made.table, plan, ReleaseKey::from_seed(6), listener);
  for (const std::uint64_t total : listener.totals) EXPECT_EQ(total, plan.descent()->steps);
}

TEST(PrivateFit, OfNoRowsIsNoise) {
  SyntheticTable made = synthetic_table(FitModel::ridge, 1000, 2, 3);
  made.rows.features.resize(0, 3);
  made.rows.target.resize(0);
  Observer nobody;
  for (const FitMechanism mechanism : mechanisms_of(FitModel::ridge, NoiseMode::grid)) {
    const FitPlan plan = plan_fit(made.table, FitModel::ridge, mechanism, {}, budget_of(1.0));
    const PrivateFit fit =
        private_fit(made.source(), made.table, plan, ReleaseKey::from_seed(6), nobody);
    EXPECT_TRUE(fit.parameters.allFinite()) << name(mechanism);
  }
}

TEST(PrivateFit, ARowsPartDependsOnItsPositionAlone) {
  // Parts by content would cost sqrt 2 more under replacement (Spec §21.4).
  const SyntheticTable made = synthetic_table(FitModel::ridge, 500, 2, 1);
  BoundedRows other = made.rows;
  other.features.setConstant(0.25);
  ReleaseBits one(ReleaseKey::from_seed(8)), two(ReleaseKey::from_seed(8));
  const RowParts parts = split_rows(made.rows, 0.3, one), others = split_rows(other, 0.3, two);
  EXPECT_EQ(parts.held_out.target, others.held_out.target);
  EXPECT_EQ(parts.fitted.target.size() + parts.held_out.target.size(), 500);
  EXPECT_NEAR(static_cast<double>(parts.held_out.target.size()), 150.0, 4.5 * std::sqrt(105.0));
}

TEST(PrivateFit, WhatHasNoProofIsRefused) {
  const SyntheticTable numbers = synthetic_table(FitModel::ridge, 100, 2, 1);
  const SyntheticTable classes = synthetic_table(FitModel::logistic, 100, 2, 1);
  const SyntheticTable several = synthetic_table(FitModel::softmax, 100, 2, 1);
  FitSettings floating;
  floating.noise_mode = NoiseMode::gaussian;
  const auto refuse = [](const SyntheticTable& from, FitModel model, FitMechanism mechanism,
                         const FitSettings& settings) {
    EXPECT_THROW((void)plan_fit(from.table, model, mechanism, settings, budget_of(1.0)),
                 InvalidArgument)
        << name(model) << " " << name(mechanism);
  };
  refuse(classes, FitModel::logistic, FitMechanism::last_iterate,
         {});  // grid noise breaks the contraction
  refuse(numbers, FitModel::ridge, FitMechanism::last_iterate,
         floating);  // clipped squares do not contract
  refuse(classes, FitModel::logistic, FitMechanism::statistics, {});
  refuse(several, FitModel::softmax, FitMechanism::minimiser, {});
}

}  // namespace
}  // namespace sfumato
