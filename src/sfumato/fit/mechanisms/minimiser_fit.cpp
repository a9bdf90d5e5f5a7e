// The minimiser of a regularised loss plus noise shaped by a released metric (Spec §22.6).
#include <cmath>
#include <vector>

#include "sfumato/fit/imagined.hpp"
#include "sfumato/fit/mechanism.hpp"
#include "sfumato/fit/minimiser.hpp"
#include "sfumato/fit/noisy_sum.hpp"
#include "sfumato/fit/sensitivity.hpp"

namespace sfumato {

using Eigen::VectorXd;

namespace {

const MinimiserFit& own(const FitPlan& plan) { return std::get<MinimiserFit>(plan.how); }

/// Half the tolerance of minimise() for rounding, decided before the table is opened.
bool can_be_minimised(const PublicTable& table, const FitSettings& settings) {
  const auto rows = static_cast<double>(table.rows), d = static_cast<double>(table.dim());
  return 0x1p-50 * (rows + d) / (1.0 - settings.holdout) <= 5e-9;
}

/// mu of the minimiser itself.
double minimiser_mu(const FitPlan& plan) {
  return plan.fit_mu() * std::sqrt(1.0 - own(plan).metric.share);
}

void plan_minimiser(const FitSetup& setup, FitPlan* plan) {
  const auto& [table, settings, usual] = setup;
  // Regularisation costs ridge |u|^2 / 2, noise curvature s^2 d / 2 with s = bound / (ridge N mu): the least sum, for |u| = residual scale.
  if (!can_be_minimised(table, settings)) {
    throw InvalidArgument("so many rows cannot be summed precisely enough for a minimiser",
                          "Use whitened", Where::key("mechanism"));
  }
  MinimiserFit how{planned_metric(settings), 0.0, usual.clip_factor};
  const auto d = static_cast<double>(table.dim());
  const double spend = plan->fit_mu() * std::sqrt(1.0 - how.metric.share) * plan->rows;
  how.ridge = settings.ridge.value_or(
      std::cbrt(2.0 * typical_curvature(table, plan->model) * d * d / (spend * spend)));
  how.metric.floor = metric_floor(*plan, how.clip_factor, plan->rows / (how.ridge * spend));
  plan->how = how;
}

double predict(const FitPlan& plan, const PublicTable& table) {
  const ImaginedTable prior = imagined_table(table, plan.model, plan.bound);
  const auto d = static_cast<double>(table.dim());
  const MinimiserFit& how = own(plan);
  const double s = how.clip_factor * residual_scale(table, plan.model) * std::sqrt(d) /
                   (how.ridge * plan.rows * plan.fit_mu() * std::sqrt(1.0 - how.metric.share));
  const double curvature = typical_curvature(table, plan.model);
  return (how.ridge * prior.variance / curvature + curvature * s * s * d) / prior.variance;
}

BoundedLoss loss_of(const FitPlan& plan, const PublicTable& table, const ReleasedMetric& metric) {
  const MinimiserFit& how = own(plan);
  return {plan.model,
          plan.model == FitModel::ridge ? how.clip_factor * table.target_bound() : 1.0,
          std::sqrt(metric.effective_dim),
          how.ridge,
          plan.rows,
          static_cast<double>(table.rows)};
}

double tolerance_of(const BoundedLoss& loss) { return 1e-8 * loss.gradient_bound(); }

NoisySum release(const VectorXd& u, const BoundedLoss& loss, const FitContext& context) {
  const FitPlan& plan = context.plan;
  ReleaseBits bits = context.bits(FitStream::steps);
  return noisy_vector(u,
                      minimiser_sensitivity(loss.gradient_bound(), loss.ridge, plan.rows,
                                            tolerance_of(loss), context.table.relation),
                      minimiser_mu(plan), plan.noise_mode, bits);
}

void run(const FitContext& context, PrivateFit* fit) {
  const BoundedRows& rows = context.rows;
  fit->metric = metric_for(context, fit);
  const Eigen::MatrixXd& root = fit->metric->root;
  const BoundedLoss loss = loss_of(context.plan, context.table, *fit->metric);
  fit->clip = loss.gradient_bound();
  const RowMajor z = in_metric(rows.features, root);
  const VectorXd u = minimise(z, rows.target, loss, tolerance_of(loss), context.observer);
  const NoisySum released = release(u, loss, context);
  fit->parameters = root.transpose() * released.sum;
  if (fit->exposure) {
    fit->exposure->mu_squared.array() +=
        (shifts_without_rows(z, rows.target, loss, u).array() / released.noise_std).square();
    fit->exposure->exact = false;
  }
}

double canary(const CanaryContext& context) {
  double score = 0.0;
  const ReleasedMetric metric = metric_with_canary(context, &score);
  const BoundedLoss loss = loss_of(context.made.plan, context.made.table, metric);
  const auto minimum = [&](const BoundedRows& rows) {
    return minimise(in_metric(rows.features, metric.root), rows.target, loss, tolerance_of(loss),
                    context.made.observer);
  };
  const NoisySum released = release(minimum(context.made.rows), loss, context.made);
  return score + log_ratio(released.sum, minimum(context.canary), released.noise_std);
}

}  // namespace

const MechanismRules& MinimiserFit::rules() {
  static const MechanismRules all = {
      "minimiser",
      "the regularised minimiser plus shaped noise",
      true,
      RangeMargin::none,
      [](FitModel model, NoiseMode) -> std::optional<InvalidArgument> {
        if (model != FitModel::softmax) return {};
        return unproven("minimiser", model, "its sensitivity is proven for one output alone");
      },
      can_be_minimised,
      plan_minimiser,
      [](const FitPlan& plan, NeighbouringRelation relation) {
        return std::vector{
            metric_release(plan, relation),
            gaussian_release("regularised minimiser", minimiser_mu(plan), 1, relation)};
      },
      predict,
      run,
      canary};
  return all;
}

}  // namespace sfumato
