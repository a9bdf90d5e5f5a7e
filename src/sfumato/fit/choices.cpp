#include "sfumato/fit/choices.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

#include "sfumato/fit/imagined.hpp"
#include "sfumato/fit/sensitivity.hpp"

namespace sfumato {
namespace {

/// Clip factors of squares: smaller ones have less noise, and more bias (Spec §22.7).
constexpr double kClipFactors[] = {0.05, 0.1, 0.15, 0.2, 0.3, 0.45, 0.6, 0.9};
/// Of classes where the loss predicted with so wide a clip is one that nobody would see: few rows then pull less than they would.
constexpr double kWideClassClip = 1.0, kWideClassLoss = 0.005;
/// Steps of the descent of several classes, whose losses are flatter than those of two, where the loss predicted for 40 of them is so small.
constexpr double kMoreClassStepsLoss = 0.05;
constexpr std::uint64_t kMoreClassSteps = 120;
/// Steps of the descent of squares in a metric, where the loss predicted for 24 of them is so small (Spec §22.4).
struct MoreSteps {
  double predicted_loss;
  std::uint64_t steps;
};
constexpr MoreSteps kMoreSteps[] = {{0.0001, 192}, {0.0005, 96}};
/// Wider clips of squares in a metric, for residuals with longer tails than imagined: what these cost at the widest usual clip, as a share of the variance, and
/// falling like 1 / clip^2, is weighed against the noise (Spec §22.4).
constexpr double kWideClipFactors[] = {1.35, 1.8, 2.7, 3.6};
constexpr double kTails = 0.0002, kWidestUsual = 0.9;

/// The factors to choose from.
std::vector<double> clip_factors(const FitSettings& settings, const FitPlan& plan) {
  if (settings.clip_factor) return {*settings.clip_factor};
  // Intervals need gradients that are hardly ever clipped: those of rows no longer than the ones whose curvature is released are not.
  if (plan.interval_share > 0.0) return {kRowsInMetric};
  if (plan.model != FitModel::ridge) return {kClassClip};
  return {std::begin(kClipFactors), std::end(kClipFactors)};
}

/// The clip factor of least predicted loss for so many steps.
FitPlan whitened_with_steps(const PublicTable& table, const FitSettings& settings, FitPlan plan,
                            std::uint64_t steps, double* best) {
  plan.steps = steps;
  plan.average_last = settings.average_last.value_or(std::max<std::uint64_t>(1, 2 * steps / 3));
  plan.noise_multiplier =
      split_budget(plan.fit_mu(), plan.metric_share, static_cast<double>(steps), table.relation)
          .noise_multiplier;
  FitPlan chosen = plan;
  *best = std::numeric_limits<double>::infinity();
  for (const double clip_factor : clip_factors(settings, plan)) {
    FitPlan tried = plan;
    tried.clip_factor = clip_factor;
    tried.metric_floor = floor_of(
        tried, tried.noise_multiplier / std::sqrt(static_cast<double>(tried.average_last)));
    const double loss = predicted_loss(tried, table);
    if (loss < *best) *best = loss, chosen = tried;
  }
  return chosen;
}

/// The plan with a wider clip where noise is so small that rows far from their prediction matter more.
FitPlan with_tails(const PublicTable& table, const FitSettings& settings, const FitPlan& plan) {
  if (settings.clip_factor || plan.clip_factor != kWidestUsual) return plan;
  FitPlan chosen = plan;
  double best = predicted_loss(plan, table) + kTails;
  for (const double clip_factor : kWideClipFactors) {
    FitSettings wide = settings;
    wide.clip_factor = clip_factor;
    const double wider = clip_factor / kWidestUsual;
    FitPlan tried = plan;
    tried.rows_in_metric = wider * kRowsInMetric;
    double loss = 0.0;
    tried = whitened_with_steps(table, wide, tried, plan.steps, &loss);
    const double tails = kTails / (wider * wider);
    if (loss + tails < best) best = loss + tails, chosen = tried;
  }
  return chosen;
}

/// Steps and clip of classes: more of both where the noise is small.
void choose_classes(const PublicTable& table, const FitSettings& settings, FitPlan* plan) {
  double best = 0.0;
  FitPlan chosen = whitened_with_steps(table, settings, *plan, plan->steps, &best);
  if (plan->model == FitModel::softmax && !settings.steps && best <= kMoreClassStepsLoss) {
    chosen = whitened_with_steps(table, settings, *plan, kMoreClassSteps, &best);
  }
  if (!settings.clip_factor && plan->interval_share == 0.0) {
    FitSettings wide = settings;
    wide.clip_factor = kWideClassClip;
    const FitPlan tried = whitened_with_steps(table, wide, *plan, chosen.steps, &best);
    if (best <= kWideClassLoss) chosen = tried;
  }
  *plan = chosen;
}

void choose_squares(const PublicTable& table, const FitSettings& settings, FitPlan* plan) {
  double best = 0.0;
  FitPlan chosen = whitened_with_steps(table, settings, *plan, plan->steps, &best);
  // Steps over averaged iterates is what noise depends on in directions that are resolved: there more steps cost time alone, and they reach directions that are
  // weaker than imagined. With fewer rows they let noise through instead.
  if (!settings.steps) {
    for (const MoreSteps& more : kMoreSteps) {
      if (best > more.predicted_loss) continue;
      chosen = whitened_with_steps(table, settings, *plan, more.steps, &best);
      break;
    }
  }
  *plan = with_tails(table, settings, chosen);
}

}  // namespace

double floor_of(const FitPlan& plan, double multiplier) {
  const double moved = multiplier * plan.clip_factor * plan.bound / plan.rows;
  return moved * moved;
}

void choose_isotropic(const PublicTable& table, const FitSettings& settings, FitPlan* plan) {
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
        tried.steps = settings.steps.value_or(steps);
        tried.average_last =
            settings.average_last.value_or(std::max<std::uint64_t>(1, tried.steps / 2));
        tried.learning_rate =
            settings.learning_rate.value_or(rate / (largest_curvature(plan->model) * longest));
        tried.clip_factor = clip_factor;
        tried.noise_multiplier =
            split_budget(tried.fit_mu(), 0.0, static_cast<double>(tried.steps), table.relation)
                .noise_multiplier;
        const ClippedDescent clipped = imagined_clipping(table, tried, imagined);
        if (rate > 1.0 && tried.learning_rate * clipped.slower * steepest > 1.9) continue;
        const double loss = predicted_loss(tried, table);
        if (loss < best) best = loss, chosen = tried;
      }
      if (settings.learning_rate) break;
    }
    if (settings.steps) break;
  }
  *plan = chosen;
}

void choose_whitened(const PublicTable& table, const FitSettings& settings, FitPlan* plan) {
  if (plan->model == FitModel::ridge) {
    choose_squares(table, settings, plan);
  } else {
    choose_classes(table, settings, plan);
  }
}

}  // namespace sfumato
