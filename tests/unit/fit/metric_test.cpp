#include "sfumato/fit/metric.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/fit/selection.hpp"
#include "support/synthetic_table.hpp"

namespace sfumato {
namespace {

FitBudget budget_of(double epsilon) { return {{Epsilon(epsilon), Delta(1e-6)}, {}}; }

TEST(ReleasedMetric, IsTheInverseOfTheEstimateAndItsRidge) {
  Eigen::MatrixXd moments(2, 2);
  moments << 80.0, 20.0, 20.0, 30.0;
  const NoisyMoments released{moments, 3.0};
  const ReleasedMetric metric =
      metric_of(released, ReleasedMetric::of_features(2), 100.0, 0.5, 0.01);
  const double edge = 3.0 * std::sqrt(4.0) / 100.0, ridge = 0.5 * edge;
  // Both eigenvalues stand out of the noise, which pushed them up: w = h + edge^2 / 4h.
  const double apart = std::sqrt(0.25 * 0.25 + 0.2 * 0.2);
  const auto clean = [&](double w) { return 0.5 * (w + std::sqrt(w * w - edge * edge)); };
  const double low = clean(0.55 - apart), high = clean(0.55 + apart);
  const double dims = low / (low + ridge) + high / (high + ridge);
  // The same eigenvectors: estimate = a + b moments.
  const double b = (high - low) / (2.0 * apart), a = high - b * (0.55 + apart);
  Eigen::MatrixXd estimate = b * moments / 100.0;
  estimate.diagonal().array() += a;
  Eigen::MatrixXd expected = estimate;
  expected.diagonal().array() += ridge + 0.01 * dims;
  EXPECT_TRUE((metric.root.transpose() * metric.root * expected).isIdentity(1e-12));
  EXPECT_TRUE((metric.root * metric.inverse_root).isIdentity(1e-12));
  EXPECT_TRUE(metric.moments.isApprox(100.0 * estimate, 1e-12));
  // In its own coordinates the estimate is diagonal.
  const Eigen::MatrixXd inside = metric.root * estimate * metric.root.transpose();
  EXPECT_TRUE(inside.isApprox(Eigen::MatrixXd(metric.reach.asDiagonal()), 1e-12));
  EXPECT_NEAR(metric.effective_dim, metric.reach.sum(), 1e-12);
}

TEST(ReleasedMetric, DirectionsInTheNoiseShareWhatTheTraceLeaves) {
  const Eigen::Index d = 40;
  ReleaseBits bits(ReleaseKey::from_seed(7));
  std::vector<double> normals(static_cast<std::size_t>(d * d));
  fill_normal(bits, normals);
  const Eigen::Map<const Eigen::MatrixXd> z(normals.data(), d, d);
  // Second moments 1 in one direction and 0.05 in the others, under noise whose edge is 0.9.
  const double noise = 0.9 / std::sqrt(2.0 * static_cast<double>(d));
  Eigen::MatrixXd moments = 0.5 * noise * (z + z.transpose());
  moments.diagonal().array() += 0.05;
  moments(0, 0) += 0.95;
  const ReleasedMetric metric = metric_of({1000.0 * moments, 1000.0 * noise},
                                          ReleasedMetric::of_features(d), 1000.0, 0.45, 0.0);
  const Eigen::VectorXd found =
      Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(metric.moments / 1000.0).eigenvalues();
  EXPECT_NEAR(found(d - 1), 1.0, 0.25);  // the noise alone leaves about 1.2 there
  EXPECT_NEAR(found(0), 0.05, 0.03);     // and -0.85 here
  EXPECT_NEAR(found(d - 2), found(0), 1e-12);
  // Noise that passed for features would make it about 20.
  EXPECT_LT(metric.effective_dim, 8.0);
}

TEST(ReleasedMetric, FurtherRoundsFindDirectionsThatTheFirstOnesNoiseHides) {
  // The second feature is a thousandth of its range wide.
  SyntheticTable made = synthetic_table(FitModel::ridge, 20'000, 2, 3);
  made.rows.features.col(1) *= 1e-3;
  Observer nobody;
  /// By how much the weakest direction stands out of what noise alone would leave.
  const auto margin = [&](std::uint64_t rounds) {
    FitSettings settings;
    settings.range_share = 0.0;
    settings.metric_rounds = rounds;
    settings.clip_factor = 0.9;  // with a wider one rows are longer, and so is their noise
    const FitPlan plan =
        plan_fit(made.table, FitModel::ridge, FitMechanism::whitened, settings, budget_of(3.0));
    ReleaseBits bits(ReleaseKey::from_seed(1));
    const ReleasedMetric metric =
        release_metric(made.rows.features, made.table, plan, bits, nobody);
    return (metric.reach - metric.noise_edge).minCoeff();
  };
  EXPECT_LT(margin(1), 0.0);
  EXPECT_GT(margin(4), 0.5);
}

TEST(RowExposure, IsExactForNormalDistributionsAndNeverAboveTheGuarantee) {
  Observer nobody;
  for (const FitModel model : {FitModel::ridge, FitModel::logistic}) {
    SyntheticTable made = synthetic_table(model, 2000, 2, 4);
    made.rows.features.row(0).setConstant(1.0);  // as long as a row may be
    if (model == FitModel::ridge) made.rows.target(0) = made.table.target_bound();
    for (const FitMechanism mechanism : mechanisms_of(model, NoiseMode::grid)) {
      FitSettings settings;
      settings.range_share = 0.0;
      settings.holdout = 0.0;
      if (mechanism == FitMechanism::isotropic) settings.steps = 20;
      const FitPlan plan = plan_fit(made.table, model, mechanism, settings, budget_of(2.0));
      const PrivateFit fit =
          private_fit(made.source(), made.table, plan, ReleaseKey::from_seed(4), nobody, {true});
      ASSERT_TRUE(fit.exposure.has_value());
      const double worst = std::sqrt(fit.exposure->mu_squared.maxCoeff());
      EXPECT_LE(worst, plan.mu * (1.0 + 1e-12)) << name(model) << " " << name(mechanism);
      EXPECT_EQ(fit.exposure->exact, mechanism == FitMechanism::statistics);
      if (mechanism == FitMechanism::statistics) {
        EXPECT_GT(worst, 0.99 * plan.mu) << "the longest row attains the guarantee";
      }
    }
  }
}

}  // namespace
}  // namespace sfumato
