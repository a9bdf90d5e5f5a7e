// The six ways to a guarantee that does not hold (Spec §26.4): each test fails if the code takes one of them.
//   grid noise with a last iterate      refused: PrivateFit.WhatHasNoProofIsRefused (unit)
//   replace constants after rounding    MomentsOnAGrid below, and MomentSensitivity
//   curvature of rescaled rows          MinimiserSensitivity below: rows longer than their bound
//   weights in the Hessian              LastIterate below: rows as long as they may be
//   more rows than declared             LastIterate below (all declared rows in one part), BoundedRows.RefusesWhatBreaksTheGuarantee (unit)
//   parts chosen by content             PrivateFit.ARowsPartDependsOnItsPositionAlone (unit)
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "sfumato/account/lattice/discrete_noise.hpp"
#include "sfumato/fit/descent.hpp"
#include "sfumato/fit/metric.hpp"
#include "sfumato/fit/minimiser.hpp"
#include "sfumato/fit/moments.hpp"
#include "sfumato/fit/selection.hpp"
#include "sfumato/fit/sensitivity.hpp"
#include "support/synthetic_table.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

TEST(MomentsOnAGrid, RecordsThatReplaceEachOtherStayWithinMu) {
  // Every pair of integer rows on the rim, two features: where nearest integers of v v^T, instead of v, would be 1 % further apart than sqrt 2.
  for (const double mu : {0.02, 0.5, 3.0}) {
    const MomentGrid grid = moment_grid(1.0, mu, true, 2e9, 3.0);  // so many rows: a coarse grid
    const double rim = std::floor(std::sqrt(grid.grid.square));
    ASSERT_LT(rim, 2000.0);
    const double step = std::max(1.0, std::floor(rim / 150.0));
    double worst = 0.0;
    for (double x = 0.0; x <= rim; x += step) {
      const double y = std::floor(std::sqrt(grid.grid.square - x * x));
      for (double u = 0.0; u <= rim; u += step) {
        const double v = -std::floor(std::sqrt(grid.grid.square - u * u));
        const double a = (x * x - u * u) / static_cast<double>(grid.diagonal);
        const double b = (y * y - v * v) / static_cast<double>(grid.diagonal);
        const double c = (x * y - u * v) / static_cast<double>(grid.deviation);
        worst = std::max(worst, std::sqrt(a * a + b * b + c * c));
      }
    }
    const double factor = discrete_noise_cost(static_cast<double>(grid.deviation), 3.0).mu_factor;
    EXPECT_LE(worst * factor, mu);
    EXPECT_GE(worst * factor, 0.9 * mu) << "and not absurdly below it";
  }
}

RC_GTEST_PROP(MinimiserSensitivity, OfRowsOfAnyLengthIsAsStated, ()) {
  const Index d = *rc::gen::inRange<Index>(1, 4), n = *rc::gen::inRange<Index>(2, 9);
  const FitModel model = *rc::gen::element(FitModel::ridge, FitModel::logistic);
  const BoundedLoss loss{model,
                         model == FitModel::ridge ? *rc::gen::element(0.1, 0.5, 2.0) : 1.0,
                         *rc::gen::element(0.1, 1.0, 3.0),
                         *rc::gen::element(0.01, 0.1, 1.0),
                         static_cast<double>(n),
                         static_cast<double>(n)};
  RowMajor z(n, d);
  VectorXd target(n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < d; ++j) z(i, j) = *rc::gen::inRange(-300, 301) / 100.0;
    z.row(i) *= *rc::gen::element(0.01, 1.0, 100.0);  // far beyond the bound, too
    target(i) = model == FitModel::ridge ? *rc::gen::inRange(-200, 201) / 100.0
                                         : static_cast<double>(*rc::gen::inRange(0, 2));
  }
  RowMajor other = z;
  VectorXd other_target = target;
  other.row(0).setZero();
  other_target(0) = model == FitModel::ridge ? 0.0 : -1.0;
  const double tolerance = 1e-8 * loss.gradient_bound();
  Observer nobody;
  const VectorXd with = minimise(z, target, loss, tolerance, nobody);
  const VectorXd without = minimise(other, other_target, loss, tolerance, nobody);
  RC_ASSERT((with - without).norm() <= minimiser_sensitivity(loss.gradient_bound(), loss.ridge,
                                                             loss.rows, tolerance,
                                                             NeighbouringRelation::zero_out));
}

RC_GTEST_PROP(LastIterate, TheMapContractsForEveryTableThatIsDeclared, ()) {
  // All declared rows may be in the fitted part, and all as long and alike as they can be.
  const FitModel model = *rc::gen::element(FitModel::logistic, FitModel::softmax);
  SyntheticTable made = synthetic_table(model, 40, 3, 1);
  FitSettings settings;
  settings.noise_mode = NoiseMode::gaussian;
  settings.range_share = 0.0;
  settings.holdout = *rc::gen::element(0.0, 0.1, 0.5);
  const FitPlan plan = plan_fit(made.table, model, FitMechanism::last_iterate, settings,
                                {{Epsilon(1.0), Delta(1e-6)}, {}});
  const double smoothness = (model == FitModel::logistic ? 0.25 : 0.5) * plan.bound * plan.bound *
                            static_cast<double>(made.table.rows) / plan.rows;
  const PlannedDescent& descent = *plan.descent();
  // Of the longest gradient, as the mechanism has it.
  const double clip =
      (model == FitModel::softmax ? std::sqrt(2.0) : 1.0) * plan.bound * (1.0 + 1e-8);
  const double contraction =
      last_iterate_of(descent.learning_rate, plan.ridge(), smoothness, descent.steps, 1.0)
          .contraction;
  const bool alike = *rc::gen::arbitrary<bool>();
  RowMajor rows = RowMajor::Random(40, 4);
  if (alike) rows.rowwise() = rows.row(0).eval();
  for (Index i = 0; i < 40; ++i) rows.row(i) *= plan.bound / rows.row(i).norm();
  VectorXd target(40);
  for (double& y : target) y = static_cast<double>(*rc::gen::inRange(0, 2));
  Observer nobody;
  const Index outputs = outputs_of(model, 3);
  const Eigen::MatrixXd u = 0.1 * Eigen::MatrixXd::Random(4, outputs);
  const Eigen::MatrixXd v =
      u + 1e-3 * rows.row(0).transpose() * Eigen::RowVectorXd::Random(outputs);
  const auto moved = [&](const Eigen::MatrixXd& at) -> Eigen::MatrixXd {
    const Eigen::MatrixXd sum =
        clipped_gradient_sum({rows, target, model}, at, clip, nullptr, nobody);
    return at - descent.learning_rate * (sum / plan.rows + plan.ridge() * at);
  };
  RC_ASSERT((moved(u) - moved(v)).norm() <= contraction * (u - v).norm() * (1.0 + 1e-9));
}

RC_GTEST_PROP(LaterRounds, OfTheMetricSeeRowsWithinTheirBound, ()) {
  const Index d = *rc::gen::inRange<Index>(1, 5);
  SyntheticTable made = synthetic_table(FitModel::ridge, 300, d, 7);
  made.rows.features.row(0).setConstant(1.0);
  FitSettings settings;
  settings.range_share = 0.0;
  settings.metric_rounds = *rc::gen::inRange<std::uint64_t>(1, 6);
  const FitPlan plan = plan_fit(made.table, FitModel::ridge, FitMechanism::whitened, settings,
                                {{Epsilon(*rc::gen::element(0.1, 1.0, 20.0)), Delta(1e-6)}, {}});
  ReleaseBits bits(ReleaseKey::from_seed(*rc::gen::inRange<std::uint64_t>(0, 1000)));
  Observer nobody;
  std::vector<MomentsRelease> rounds;
  const ReleasedMetric metric =
      release_metric(made.rows.features, made.table, plan, bits, nobody, &rounds);
  RC_ASSERT(rounds.size() == plan.metric()->rounds);
  double square = 0.0;
  for (const MomentsRelease& round : rounds) {
    RowMajor rows = in_metric(made.rows.features, round.base.root);
    shorten_rows(round.bound, &rows);
    RC_ASSERT(rows.rowwise().norm().maxCoeff() <= round.bound);
    // What the noise that was really added costs.
    square +=
        std::pow(second_moment_mu(round.bound, round.moments.noise_std, made.table.relation), 2);
  }
  RC_ASSERT(std::sqrt(square) <= plan.moments_mu() * (1.0 + 1e-12));
  RC_ASSERT((metric.root * metric.inverse_root).isIdentity(1e-6));
  RC_ASSERT(metric.reach.minCoeff() >= 0.0);
  RC_ASSERT(metric.reach.maxCoeff() <= 1.0);
}

RC_GTEST_PROP(Selection, ARecordsLossesAreWithinTheirBound, ()) {
  const Index k = *rc::gen::inRange<Index>(2, 7);
  Eigen::ArrayXd losses(k);
  for (double& x : losses) x = *rc::gen::element(0.0, 1.0, 0.5, 1e-9, 0.999);
  centre_losses(losses);
  RC_ASSERT(losses.matrix().norm() <= 0.5 * std::sqrt(static_cast<double>(k)) * (1.0 + 1e-15));
}

}  // namespace
}  // namespace sfumato
