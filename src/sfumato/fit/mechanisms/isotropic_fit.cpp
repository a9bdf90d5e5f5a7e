// Noisy descent in the features as they are (Spec §22.4).
#include <algorithm>
#include <limits>
#include <vector>

#include "sfumato/fit/imagined.hpp"
#include "sfumato/fit/mechanism.hpp"

namespace sfumato {
namespace {

IsotropicFit& own(FitPlan& plan) { return std::get<IsotropicFit>(plan.how); }
const IsotropicFit& own(const FitPlan& plan) { return std::get<IsotropicFit>(plan.how); }

/// Rows may be shorter than the clip takes them to be: it takes the longest.
ClippedDescent clipping(const FitPlan& plan, const PublicTable& table,
                        const ImaginedTable& imagined) {
  return imagined_clipping(table, plan.model, own(plan).descent.clip_factor,
                           plan.bound / imagined.row_length);
}

/// Steps, step size and clip of a descent where they are not set: those of least predicted loss among a few (Spec §22.4, §22.7). They depend on what is public
/// alone. The plan has its budget, bound and shares already.
void plan_isotropic(const FitSetup& setup, FitPlan* plan) {
  const auto& [table, settings, usual] = setup;
  IsotropicFit how{usual};
  how.descent.noise_multiplier = step_multiplier(*plan, 0.0, usual.steps, table.relation);
  plan->how = how;
  // The best of a few public numbers of steps, step sizes and clips for the imagined problem.
  const ImaginedTable imagined = imagined_table(table, plan->model, plan->bound);
  const double longest = plan->bound * plan->bound;
  // The largest eigenvalue as it mostly is: values stand far from the middle of generous ranges.
  const double steepest = 0.6 * longest * typical_curvature(table, plan->model);
  double best = std::numeric_limits<double>::infinity();
  FitPlan chosen = *plan;
  for (const std::uint64_t steps : {25U, 50U, 100U, 200U, 400U}) {
    for (const double rate : {0.25, 0.5, 1.0, 2.0, 4.0}) {
      for (const double clip_factor : clip_factors(settings, *plan)) {
        FitPlan tried = *plan;
        PlannedDescent& descent = own(tried).descent;
        descent.steps = settings.steps.value_or(steps);
        descent.average_last =
            settings.average_last.value_or(std::max<std::uint64_t>(1, descent.steps / 2));
        descent.learning_rate =
            settings.learning_rate.value_or(rate / (largest_curvature(plan->model) * longest));
        descent.clip_factor = clip_factor;
        descent.noise_multiplier = step_multiplier(tried, 0.0, descent.steps, table.relation);
        const ClippedDescent clipped = clipping(tried, table, imagined);
        if (rate > 1.0 && descent.learning_rate * clipped.slower * steepest > 1.9) continue;
        const double loss = predicted_loss(tried, table);
        if (loss < best) best = loss, chosen = tried;
      }
      if (settings.learning_rate) break;
    }
    if (settings.steps) break;
  }
  *plan = chosen;
}

double clip(const FitPlan& plan, const PublicTable& table) {
  return own(plan).descent.clip_factor * residual_scale(table, plan.model) * plan.bound;
}

double predict(const FitPlan& plan, const PublicTable& table) {
  const ImaginedTable prior = imagined_table(table, plan.model, plan.bound);
  DescentShape shape = imagined_descent(plan, own(plan).descent);
  shape.clip = clip(plan, table);
  return predicted_descent_loss(shape, clipping(plan, table, prior), prior);
}

void run(const FitContext& context, PrivateFit* fit) {
  fit->clip = clip(context.plan, context.table);
  fit->parameters = descend(context.rows.features, context, fit);
}

double canary(const CanaryContext& context) {
  const auto d = context.made.table.dim();
  return descent_with_canary(context, Eigen::MatrixXd::Identity(d, d),
                             clip(context.made.plan, context.made.table))
      .score;
}

}  // namespace

const MechanismRules& IsotropicFit::rules() {
  static const MechanismRules all = {
      "isotropic",
      "descent with the same noise in every direction",
      false,
      RangeMargin::none,
      [](FitModel, NoiseMode) { return std::optional<InvalidArgument>(); },
      [](const PublicTable&, const FitSettings&) { return true; },
      plan_isotropic,
      [](const FitPlan& plan, NeighbouringRelation relation) {
        return std::vector{descent_release(plan, 1.0, relation)};
      },
      predict,
      run,
      canary};
  return all;
}

}  // namespace sfumato
