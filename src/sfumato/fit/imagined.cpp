#include "sfumato/fit/imagined.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sfumato/core/error.hpp"
#include "sfumato/fit/sensitivity.hpp"

namespace sfumato {

using Eigen::Index;
using Eigen::VectorXd;

namespace {

double clip_of(const PublicTable& table, const FitPlan& plan, double effective_dim) {
  const double scale = residual_scale(table, plan.model);
  return plan.mechanism == FitMechanism::isotropic
             ? plan.clip_factor * scale * plan.bound
             : plan.clip_factor * scale * std::sqrt(std::max(1.0, effective_dim));
}

}  // namespace

double typical_curvature(FitModel model) { return model == FitModel::ridge ? 1.0 : 0.15; }
double largest_curvature(FitModel model) {
  return model == FitModel::ridge ? 1.0 : model == FitModel::logistic ? 0.25 : 0.5;
}
double residual_scale(const PublicTable& table, FitModel model) {
  return model == FitModel::ridge ? table.target_bound() : 1.0;
}

ImaginedTable imagined_table(const PublicTable& table, FitModel model, double bound) {
  const Index d = table.dim();
  const double scale = residual_scale(table, model);
  ImaginedTable prior;
  prior.eigenvalues =
      VectorXd::LinSpaced(d, 1.0, static_cast<double>(d)).array().square().inverse().matrix();
  prior.eigenvalues *= typical_curvature(model) * bound * bound / prior.eigenvalues.sum();
  // A third of the range is a usual deviation of a quantity; logits of classes have a deviation of about 1.
  prior.variance = model == FitModel::ridge ? scale * scale / 9.0 : typical_curvature(model);
  prior.optimum =
      (prior.variance / static_cast<double>(d) * prior.eigenvalues.cwiseInverse()).cwiseSqrt();
  return prior;
}

DescentShape imagined_descent(const PublicTable& table, const FitPlan& plan,
                              const ImaginedTable& prior) {
  DescentShape shape{};
  shape.learning_rate = plan.learning_rate;
  shape.steps = static_cast<double>(plan.steps);
  shape.average_last = static_cast<double>(plan.average_last);
  shape.noise_multiplier = plan.noise_multiplier;
  shape.rows = plan.rows;
  shape.metric = DescentMetric::isotropic;
  double effective = 1.0;
  if (plan.mechanism == FitMechanism::whitened) {
    const auto d = static_cast<double>(table.dim());
    const double noise = second_moment_mu(plan.bound, 1.0, table.relation) / plan.round_mu();
    shape.metric = DescentMetric::whitened;
    // Every further round's noise is a share of what the metric before it left (metric.hpp).
    double ridge = plan.metric_ridge * noise * std::sqrt(2.0 * d) / plan.rows;
    const double again = plan.metric_ridge * std::sqrt(2.0 * d) / plan.rows * kRowsInMetric *
                         kRowsInMetric * d * second_moment_mu(1.0, 1.0, table.relation) /
                         plan.round_mu();
    for (std::uint64_t round = 1; round < plan.metric_rounds; ++round)
      ridge *= std::min(1.0, again);
    shape.metric_ridge = typical_curvature(plan.model) * (ridge + plan.metric_floor * d);
    effective = whitening_gain(prior.eigenvalues, shape.metric_ridge, 0.0).effective_dim;
    // The step is taken in the metric of x, in which the loss has its curvature.
    shape.learning_rate *= typical_curvature(plan.model);
    shape.noise_multiplier /= std::sqrt(typical_curvature(plan.model));
  }
  shape.clip = clip_of(table, plan, effective);
  return shape;
}

double predicted_loss(const FitPlan& plan, const PublicTable& table) {
  const ImaginedTable prior = imagined_table(table, plan.model, plan.bound);
  const auto d = static_cast<double>(table.dim());
  switch (plan.mechanism) {
    case FitMechanism::whitened:
    case FitMechanism::isotropic:
      return 2.0 *
             predicted_excess_loss(prior.eigenvalues, prior.optimum,
                                   imagined_descent(table, plan, prior))
                 .total() /
             prior.variance;
    case FitMechanism::statistics: {
      const StatisticsScale scale =
          statistics_scale(plan.bound, table.target_bound(), table.target_bound() / plan.bound);
      const double noise =
          second_moment_mu(std::sqrt(scale.bound_square), 1.0, table.relation) / plan.fit_mu();
      return 2.0 *
             predicted_statistics_loss(prior.eigenvalues, prior.optimum,
                                       {noise, noise / (std::sqrt(2.0) * scale.scale),
                                        noise * std::sqrt(2.0 * d), plan.rows})
                 .total() /
             prior.variance;
    }
    case FitMechanism::last_iterate: {
      DescentShape shape{DescentMetric::isotropic,
                         0.0,
                         plan.learning_rate,
                         static_cast<double>(plan.steps),
                         1.0,
                         plan.noise_multiplier,
                         plan.bound * (plan.model == FitModel::softmax ? std::sqrt(2.0) : 1.0),
                         plan.rows};
      const double ridge_bias =
          0.5 * (plan.ridge * plan.ridge * prior.optimum.array().square() *
                 prior.eigenvalues.array() / (prior.eigenvalues.array() + plan.ridge).square())
                    .sum();
      return 2.0 *
             (predicted_excess_loss(prior.eigenvalues, prior.optimum, shape).total() + ridge_bias) /
             prior.variance;
    }
    case FitMechanism::minimiser: {
      const double scale = residual_scale(table, plan.model);
      const double s =
          plan.clip_factor * scale * std::sqrt(d) /
          (plan.ridge * plan.rows * plan.fit_mu() * std::sqrt(1.0 - plan.metric_share));
      const double norm2 = prior.variance / typical_curvature(plan.model);
      return (plan.ridge * norm2 + typical_curvature(plan.model) * s * s * d) / prior.variance;
    }
  }
  throw InternalError("a mechanism without a prediction");
}

FitMechanism choose_mechanism(const PublicTable& table, FitModel model, const FitSettings& settings,
                              const FitBudget& budget) {
  if (settings.interval_share > 0.0) return FitMechanism::whitened;  // alone has such intervals
  FitMechanism best = FitMechanism::isotropic;
  double least = std::numeric_limits<double>::infinity();
  for (const FitMechanism mechanism : mechanisms_of(model, settings.noise_mode)) {
    const FitPlan plan = plan_fit(table, model, mechanism, settings, budget);
    if (mechanism == FitMechanism::whitened &&
        metric_noise_ratio(static_cast<double>(table.dim()), plan.metric_share, plan.fit_mu(),
                           plan.rows) > 1.0) {
      continue;
    }
    const double loss = predicted_loss(plan, table);
    if (loss < least) least = loss, best = mechanism;
  }
  return best;
}

}  // namespace sfumato
