#include "sfumato/fit/imagined.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <variant>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/fit/sensitivity.hpp"

namespace sfumato {

using Eigen::Index;
using Eigen::VectorXd;

namespace {

/// Half the range of a target is so many of its deviations: the eight tables of docs/results/fit.md that are quantities have 2.6 to 8, 4 in their middle.
constexpr double kDeviations = 4.0;
/// Of the logits of classes that can be told apart: right in about nine of ten.
constexpr double kLogitDeviation = 2.0;
/// Of residuals: that of a gamma law of shape 4.
constexpr double kSkewness = 1.0;
/// Of values that are missing where a feature of its own says so.
constexpr double kMissingShare = 0.1;
/// A loss that nobody would see, of the variance of the signal (Spec §22.7).
constexpr double kIndifferent = 0.005;

double clip_of(const PublicTable& table, const FitPlan& plan, double effective_dim) {
  const double scale = residual_scale(table, plan.model);
  return plan.mechanism == FitMechanism::isotropic
             ? plan.clip_factor * scale * plan.bound
             : plan.clip_factor * scale * std::sqrt(std::max(1.0, effective_dim));
}

}  // namespace

double typical_curvature(const PublicTable& table, FitModel model) {
  if (model == FitModel::ridge) return 1.0;
  const double share = 1.0 / std::max(2.0, static_cast<double>(table.classes.size()));
  return 0.6 * share * (1.0 - share);
}
double largest_curvature(FitModel model) {
  return model == FitModel::ridge ? 1.0 : model == FitModel::logistic ? 0.25 : 0.5;
}
double residual_scale(const PublicTable& table, FitModel model) {
  return model == FitModel::ridge ? table.target_bound() : 1.0;
}

ImaginedTable imagined_table(const PublicTable& table, FitModel model, double bound) {
  std::vector<double> squares;
  double numeric = 0.0, falling = 0.0;
  if (table.intercept) squares.push_back(1.0);
  for (const FeatureColumn& column : table.features) {
    if (const auto* category = std::get_if<CategoryColumn>(&column)) {
      const std::size_t levels = category->levels.size();
      squares.insert(squares.end(), levels - 1, 1.0 / static_cast<double>(levels));
    } else {
      ++numeric;
      falling += 1.0 / (numeric * numeric);
    }
    if (has_indicator(column)) squares.push_back(kMissingShare);
  }
  for (double j = 1.0; j <= numeric; ++j) squares.push_back(numeric / 3.0 / (j * j) / falling);
  std::sort(squares.begin(), squares.end(), std::greater<>());
  ImaginedTable prior;
  prior.eigenvalues =
      Eigen::Map<const VectorXd>(squares.data(), static_cast<Index>(squares.size()));
  prior.eigenvalues *= std::min(1.0, bound * bound / prior.eigenvalues.sum());
  prior.row_length = std::sqrt(prior.eigenvalues.sum());
  prior.eigenvalues *= typical_curvature(table, model);
  const double deviation =
      model == FitModel::ridge ? residual_scale(table, model) / kDeviations : kLogitDeviation;
  prior.variance = typical_curvature(table, model) * deviation * deviation;
  const Eigen::ArrayXd roots = prior.eigenvalues.array().sqrt();
  prior.optimum = (prior.variance / roots.sum() / roots).sqrt().matrix();
  return prior;
}

ClippedDescent imagined_clipping(const PublicTable& table, const FitPlan& plan,
                                 const ImaginedTable& imagined) {
  // Rows are about as long as the clip takes them to be, or shorter where it takes the longest.
  const double longer =
      plan.mechanism == FitMechanism::isotropic ? plan.bound / imagined.row_length : 1.0;
  if (plan.model != FitModel::ridge) {
    // At the start every class is as likely as another.
    const double classes = std::max(2.0, static_cast<double>(table.classes.size()));
    const double start = plan.model == FitModel::logistic ? 0.5 : std::sqrt(1.0 - 1.0 / classes);
    return {std::min(1.0, plan.clip_factor * longer / start), 0.0};
  }
  const double at = kDeviations * plan.clip_factor * longer;
  const double inside = std::erf(at / std::sqrt(2.0));
  const double density = std::exp(-0.5 * at * at) / std::sqrt(2.0 * std::acos(-1.0));
  const double shift = kSkewness / 6.0 * 2.0 * at * density / inside;
  return {inside, shift * shift};
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
  const double curvature = typical_curvature(table, plan.model);
  if (plan.mechanism == FitMechanism::whitened) {
    const auto d = static_cast<double>(table.dim());
    const double noise = second_moment_mu(plan.bound, 1.0, table.relation) / plan.round_mu();
    shape.metric = DescentMetric::whitened;
    // Every further round's noise is a share of what the metric before it left (metric.hpp).
    double ridge = plan.metric_ridge * noise * std::sqrt(2.0 * d) / plan.rows;
    const double again = plan.metric_ridge * std::sqrt(2.0 * d) / plan.rows * plan.rows_in_metric *
                         plan.rows_in_metric * d * second_moment_mu(1.0, 1.0, table.relation) /
                         plan.round_mu();
    for (std::uint64_t round = 1; round < plan.metric_rounds; ++round)
      ridge *= std::min(1.0, again);
    shape.metric_ridge = curvature * (ridge + plan.metric_floor * d);
    effective = whitening_gain(prior.eigenvalues, shape.metric_ridge, 0.0).effective_dim;
    // The step is taken in the metric of x, in which the loss has its curvature.
    shape.learning_rate *= curvature;
    shape.noise_multiplier /= std::sqrt(curvature);
  }
  shape.clip = clip_of(table, plan, effective);
  // What is left of a step pulls less, while its noise stays.
  const double slower = imagined_clipping(table, plan, prior).slower;
  shape.learning_rate *= slower;
  shape.noise_multiplier /= slower;
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
                 prior.variance +
             imagined_clipping(table, plan, prior).bias;
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
      const double curvature = typical_curvature(table, plan.model);
      return (plan.ridge * prior.variance / curvature + curvature * s * s * d) / prior.variance;
    }
  }
  throw InternalError("a mechanism without a prediction");
}

FitMechanism choose_mechanism(const PublicTable& table, FitModel model, const FitSettings& settings,
                              const FitBudget& budget) {
  if (settings.interval_share > 0.0) return FitMechanism::whitened;  // alone has such intervals
  const auto loss_of = [&](FitMechanism mechanism) {
    return predicted_loss(plan_fit(table, model, mechanism, settings, budget), table);
  };
  // A table steeper than imagined costs whitened descent little and the others much, so that they have to be better by more than that.
  FitMechanism best = FitMechanism::whitened;
  double least = loss_of(FitMechanism::whitened) - kIndifferent;
  for (const FitMechanism mechanism : mechanisms_for(table, model, settings)) {
    if (mechanism == FitMechanism::whitened) continue;
    const double loss = loss_of(mechanism);
    if (loss < least) least = loss, best = mechanism;
  }
  return best;
}

}  // namespace sfumato
