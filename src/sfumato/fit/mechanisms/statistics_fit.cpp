// Ridge regression from noisy second moments of features and target (Spec §22.3).
#include <cmath>
#include <vector>

#include "sfumato/fit/imagined.hpp"
#include "sfumato/fit/mechanism.hpp"
#include "sfumato/fit/moments.hpp"
#include "sfumato/fit/sensitivity.hpp"

namespace sfumato {

using Eigen::Index;
using Eigen::VectorXd;

namespace {

StatisticsScale scale_of(const FitPlan& plan, const PublicTable& table) {
  const double bound = table.target_bound();
  return statistics_scale(plan.bound, bound, bound / plan.bound);
}

double predict(const FitPlan& plan, const PublicTable& table) {
  const ImaginedTable prior = imagined_table(table, plan.model, plan.bound);
  const auto d = static_cast<double>(table.dim());
  const StatisticsScale scale = scale_of(plan, table);
  const double noise =
      second_moment_mu(std::sqrt(scale.bound_square), 1.0, table.relation) / plan.fit_mu();
  return 2.0 *
         predicted_statistics_loss(
             prior.eigenvalues, prior.optimum,
             {noise, noise / (std::sqrt(2.0) * scale.scale), noise * std::sqrt(2.0 * d), plan.rows})
             .total() /
         prior.variance;
}

/// Rows (x, c y).
RowMajor augmented(const BoundedRows& rows, const StatisticsScale& scale) {
  RowMajor both(rows.features.rows(), rows.features.cols() + 1);
  both << rows.features, scale.scale * rows.target;
  return both;
}

NoisyMoments release(const RowMajor& both, const StatisticsScale& scale,
                     const FitContext& context) {
  ReleaseBits bits = context.bits(FitStream::moments);
  return release_moments(both,
                         {std::sqrt(scale.bound_square) * (1.0 + 1e-12), context.plan.fit_mu(),
                          static_cast<double>(context.table.rows)},
                         {context.table.relation, context.plan.noise_mode, bits}, context.observer);
}

void run(const FitContext& context, PrivateFit* fit) {
  const Index d = context.rows.features.cols();
  const StatisticsScale scale = scale_of(context.plan, context.table);
  const RowMajor both = augmented(context.rows, scale);
  const NoisyMoments moments = release(both, scale, context);
  if (fit->exposure) expose_moments(both, moments.noise_std, &*fit->exposure);
  // The ridge is the edge of the noise: (sum x x^T + edge)^{-1} is P / N.
  fit->metric = metric_of({moments.sum.topLeftCorner(d, d), moments.noise_std},
                          ReleasedMetric::of_features(d), context.plan.rows, 1.0, 0.0);
  const VectorXd cross = moments.sum.topRightCorner(d, 1) / scale.scale;
  fit->parameters = fit->metric->root.transpose() * (fit->metric->root * cross) / context.plan.rows;
}

double canary(const CanaryContext& context) {
  const StatisticsScale scale = scale_of(context.made.plan, context.made.table);
  const NoisyMoments moments = release(augmented(context.made.rows, scale), scale, context.made);
  const VectorXd v = augmented(context.canary, scale).transpose();
  // Isotropic in the Frobenius norm, in which both the noise and the shift v v^T are measured (Spec §22.2).
  return log_ratio(moments.sum, v * v.transpose(), moments.noise_std);
}

}  // namespace

const MechanismRules& StatisticsFit::rules() {
  static const MechanismRules all = {
      "statistics",
      "noisy sums of products (sufficient statistics)",
      true,
      RangeMargin::none,
      [](FitModel model, NoiseMode) -> std::optional<InvalidArgument> {
        if (model == FitModel::ridge) return {};
        return unproven("statistics", model, "second moments say nothing about classes");
      },
      [](const PublicTable&, const FitSettings&) { return true; },
      [](const FitSetup&, FitPlan* plan) { plan->how = StatisticsFit{}; },
      [](const FitPlan& plan, NeighbouringRelation relation) {
        return std::vector{
            gaussian_release("second moments of features and target", plan.fit_mu(), 1, relation)};
      },
      predict,
      run,
      canary};
  return all;
}

}  // namespace sfumato
