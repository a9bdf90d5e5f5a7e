#include "sfumato/fit/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

#include "sfumato/core/check.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/fit/imagined.hpp"
#include "sfumato/fit/prediction.hpp"
#include "sfumato/fit/ranges.hpp"
#include "sfumato/fit/sensitivity.hpp"

namespace sfumato {

std::string_view name(FitMechanism mechanism) {
  switch (mechanism) {
    case FitMechanism::whitened: return "whitened";
    case FitMechanism::isotropic: return "isotropic";
    case FitMechanism::statistics: return "statistics";
    case FitMechanism::last_iterate: return "last_iterate";
    case FitMechanism::minimiser: return "minimiser";
  }
  throw InternalError("a mechanism without a name");
}

std::string_view name(NoiseMode mode) { return mode == NoiseMode::grid ? "grid" : "gaussian"; }

namespace {

/// Clip factor of classes: residuals are about that long.
constexpr double kClassClip = 0.5;

/// The floor of P^{-1} (for each effective dimension) at which noise of `multiplier` clips moves the prediction of the longest row that there can be by the
/// residual scale: rows far out in directions that are nearly empty would get nothing but noise.
double floor_of(const FitPlan& plan, double multiplier) {
  const double moved = multiplier * plan.clip_factor * plan.bound / plan.rows;
  return moved * moved;
}

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

/// Steps, step size and clip of a descent where they are not set: those of least predicted loss among a few (Spec §22.4, §22.7). They depend on what is public
/// alone. The plan has its budget, bound, shares and rounds already.
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

/// How the unit budget is spent; `scale` multiplies every mu.
std::vector<FitRelease> releases_of(const FitPlan& plan, NeighbouringRelation relation) {
  std::vector<FitRelease> releases;
  const auto add = [&](std::string what, double mu_each, std::uint64_t steps) {
    releases.push_back(
        {std::move(what),
         {GaussianNoise{multiplier_of_mu(mu_each, relation)}, Sampler::full, 1.0, steps},
         mu_each * std::sqrt(static_cast<double>(steps))});
  };
  const double mu = plan.fit_mu(), steps_share = plan.mechanism == FitMechanism::isotropic
                                                     ? 1.0
                                                     : 1.0 - plan.metric_share;
  const auto add_moments = [&] {
    add(plan.metric_rounds == 1 ? "second moments of the features"
                                : fmt::format("second moments, {} rounds", plan.metric_rounds),
        plan.round_mu(), plan.metric_rounds);
  };
  if (plan.range_share > 0.0) add("ranges of the columns", plan.range_mu(), 1);
  switch (plan.mechanism) {
    case FitMechanism::whitened: add_moments(); [[fallthrough]];
    case FitMechanism::isotropic:
      add(fmt::format("{} gradient sums", plan.steps),
          mu * std::sqrt(steps_share / static_cast<double>(plan.steps)), plan.steps);
      break;
    case FitMechanism::statistics: add("second moments of features and target", mu, 1); break;
    case FitMechanism::last_iterate:
      releases.push_back({"last iterate of a noisy descent", {HiddenIterates{mu}}, mu});
      break;
    case FitMechanism::minimiser:
      add_moments();
      add("regularised minimiser", mu * std::sqrt(steps_share), 1);
      break;
  }
  if (plan.interval_share > 0.0) add("curvature, for intervals", plan.interval_mu(), 1);
  return releases;
}

/// What narrower ranges are worth: as much as keeps four halvings within what the noise may leave uncertain, a tenth at least; nothing where that would
/// be more than three tenths. A rule of public quantities (chosen on tables of the study, docs/results/fit.md; not confirmed on others).
double range_share_of(const PublicTable& table, FitModel model, const FitPlan& plan) {
  constexpr double kLeast = 0.1, kMost = 0.3, kUncertain = 0.05 / 6.0;
  const double noise = range_noise(table, model, plan.mu, plan.rows);
  const double needed = (noise / kUncertain) * (noise / kUncertain);
  return needed > kMost ? 0.0 : std::max(kLeast, needed);
}

std::vector<PrivateRelease> only_releases(const std::vector<FitRelease>& releases) {
  std::vector<PrivateRelease> list;
  for (const FitRelease& one : releases) list.push_back(one.release);
  return list;
}

/// mu such that what was before and the fit meet the target.
double affordable_mu(const FitBudget& budget, NeighbouringRelation relation) {
  const PrivateRelease unit{GaussianNoise{multiplier_of_mu(1.0, relation)}, Sampler::full, 1.0, 1};
  const double factor = least_noise({relation, 1, budget.before}, {unit}, budget.target);
  if (factor == 0.0) {
    throw InvalidArgument("so large a delta needs no noise at all: nothing would be protected",
                          "Choose delta far below 1 / N", Where::key("target_delta"));
  }
  // least_noise() is within 1e-10 from above; the sums below round, each by less than 1e-15.
  return (1.0 - 1e-12) / factor;
}

void require_mechanism(FitModel model, FitMechanism mechanism, NoiseMode mode) {
  const std::vector<FitMechanism> valid = mechanisms_of(model, mode);
  if (std::find(valid.begin(), valid.end(), mechanism) != valid.end()) return;
  if (mechanism == FitMechanism::last_iterate && model != FitModel::ridge) {
    throw InvalidArgument(
        "noise on a grid has no last-iterate guarantee: rounding breaks the contraction that it "
        "rests on",
        "Use `noise_mode` = gaussian, or another mechanism", Where::key("mechanism"));
  }
  throw InvalidArgument(
      fmt::format("`mechanism` = {} has no guarantee for {} regression: {}", name(mechanism),
                  name(model),
                  mechanism == FitMechanism::last_iterate
                      ? "gradients of squares are unbounded, and clipped ones do not contract"
                      : "second moments say nothing about classes"),
      "Use whitened or isotropic", Where::key("mechanism"));
}

/// Half the tolerance of minimise() for rounding, decided before the table is opened.
bool can_be_minimised(const PublicTable& table, const FitSettings& settings) {
  const auto rows = static_cast<double>(table.rows), d = static_cast<double>(table.dim());
  return 0x1p-50 * (rows + d) / (1.0 - settings.holdout) <= 5e-9;
}

}  // namespace

double FitPlan::range_mu() const { return std::sqrt(range_share) * mu; }
double FitPlan::interval_mu() const { return std::sqrt(interval_share) * mu; }
double FitPlan::fit_mu() const { return std::sqrt(1.0 - range_share - interval_share) * mu; }

double FitPlan::moments_mu() const {
  switch (mechanism) {
    case FitMechanism::whitened:
    case FitMechanism::minimiser: return std::sqrt(metric_share) * fit_mu();
    case FitMechanism::statistics: return fit_mu();
    default: return 0.0;
  }
}

double FitPlan::round_mu() const {
  return metric_rounds == 0 ? 0.0 : moments_mu() / std::sqrt(static_cast<double>(metric_rounds));
}

std::vector<FitMechanism> mechanisms_of(FitModel model, NoiseMode mode) {
  std::vector<FitMechanism> valid = {FitMechanism::whitened, FitMechanism::isotropic};
  if (model == FitModel::ridge) valid.push_back(FitMechanism::statistics);
  if (model != FitModel::ridge && mode == NoiseMode::gaussian) {
    valid.push_back(FitMechanism::last_iterate);
  }
  if (model != FitModel::softmax) valid.push_back(FitMechanism::minimiser);
  return valid;
}

std::vector<FitMechanism> mechanisms_for(const PublicTable& table, FitModel model,
                                         const FitSettings& settings) {
  std::vector<FitMechanism> valid = mechanisms_of(model, settings.noise_mode);
  if (!can_be_minimised(table, settings)) std::erase(valid, FitMechanism::minimiser);
  return valid;
}

FitPlan plan_fit(const PublicTable& table, FitModel model, FitMechanism mechanism,
                 const FitSettings& settings, const FitBudget& budget) {
  require_public(table, model);
  require_mechanism(model, mechanism, settings.noise_mode);
  if (!(settings.holdout >= 0.0 && settings.holdout <= 0.9)) {
    throw InvalidArgument("`holdout` is not in [0, 0.9]", "Keep some rows for the fit",
                          Where::key("holdout"));
  }
  FitPlan plan{};
  plan.model = model;
  plan.mechanism = mechanism;
  plan.mu = std::sqrt(budget.share) * affordable_mu(budget, table.relation);
  plan.holdout = settings.holdout;
  plan.rows = (1.0 - settings.holdout) * static_cast<double>(table.rows);
  plan.bound = table.bound();
  plan.noise_mode = settings.noise_mode;
  plan.range_share = settings.range_share.value_or(range_share_of(table, model, plan));
  plan.interval_share = settings.interval_share;
  if (plan.interval_share > 0.0 &&
      (model != FitModel::logistic || mechanism != FitMechanism::whitened)) {
    throw InvalidArgument(
        "only intervals of a whitened logistic regression are paid for by themselves",
        model == FitModel::ridge
            ? "Those of a linear regression come with its accuracy: leave it out"
            : "Leave it out, or use `mechanism` = whitened",
        Where::key("interval_share"));
  }
  if (!(plan.range_share >= 0.0 && plan.interval_share >= 0.0 &&
        plan.range_share + plan.interval_share < 1.0)) {
    throw InvalidArgument("`range_share` and `interval_share` leave nothing for the fit",
                          "Take smaller shares", Where::key("range_share"));
  }
  plan.metric_share = settings.metric_share.value_or(0.3);
  plan.metric_ridge = settings.metric_ridge.value_or(0.45);
  plan.metric_rounds = mechanism == FitMechanism::whitened || mechanism == FitMechanism::minimiser
                           ? settings.metric_rounds.value_or(3)
                           : 0;
  plan.rows_in_metric = kRowsInMetric;
  // Squares in their own metric are solved by one step of size 1; logistic losses are flatter.
  const bool squares = model == FitModel::ridge;
  plan.steps = settings.steps.value_or(squares ? 24 : 40);
  plan.average_last =
      settings.average_last.value_or(std::max<std::uint64_t>(1, 2 * plan.steps / 3));
  plan.learning_rate = settings.learning_rate.value_or(squares ? 1.0 : 4.0);
  plan.clip_factor = settings.clip_factor.value_or(squares ? 0.6 : kClassClip);
  plan.noise_multiplier =
      split_budget(plan.fit_mu(), mechanism == FitMechanism::whitened ? plan.metric_share : 0.0,
                   static_cast<double>(plan.steps), table.relation)
          .noise_multiplier;
  const auto d = static_cast<double>(table.dim());
  switch (mechanism) {
    case FitMechanism::isotropic:
      plan.metric_share = 0.0;
      choose_isotropic(table, settings, &plan);
      break;
    case FitMechanism::last_iterate: {
      plan.metric_share = 0.0;
      const double smoothness = largest_curvature(model) * plan.bound * plan.bound *
                                static_cast<double>(table.rows) / plan.rows;
      plan.ridge = settings.ridge.value_or(0.005 * smoothness);
      plan.learning_rate = settings.learning_rate.value_or(2.0 / (2.0 * plan.ridge + smoothness));
      plan.steps = settings.steps.value_or(
          static_cast<std::uint64_t>(std::ceil(2.0 / (plan.learning_rate * plan.ridge))));
      plan.average_last = 1;
      const double unit =
          last_iterate_of(plan.learning_rate, plan.ridge, smoothness, plan.steps, 1.0).mu;
      const double doubled = table.relation == NeighbouringRelation::replace_one ? 2.0 : 1.0;
      plan.noise_multiplier = doubled * unit / plan.fit_mu() * (1.0 + 1e-12);
      break;
    }
    case FitMechanism::minimiser: {
      // Regularisation costs ridge |u|^2 / 2, noise curvature s^2 d / 2 with s = bound / (ridge N mu): the least sum, for |u| = residual scale.
      if (!can_be_minimised(table, settings)) {
        throw InvalidArgument("so many rows cannot be summed precisely enough for a minimiser",
                              "Use whitened", Where::key("mechanism"));
      }
      const double spend = plan.fit_mu() * std::sqrt(1.0 - plan.metric_share) * plan.rows;
      plan.ridge = settings.ridge.value_or(
          std::cbrt(2.0 * typical_curvature(table, model) * d * d / (spend * spend)));
      plan.metric_floor = floor_of(plan, plan.rows / (plan.ridge * spend));
      plan.steps = 1;
      plan.average_last = 1;
      break;
    }
    case FitMechanism::statistics: plan.metric_share = 1.0; break;
    case FitMechanism::whitened: choose_whitened(table, settings, &plan); break;
  }
  if (!(plan.metric_share >= 0.0 && plan.metric_share <= 1.0) ||
      (plan.metric_share == 0.0 && plan.moments_mu() == 0.0 &&
       (mechanism == FitMechanism::whitened || mechanism == FitMechanism::minimiser)) ||
      (mechanism != FitMechanism::statistics && plan.metric_share >= 1.0)) {
    throw InvalidArgument("`metric_share` is not in (0, 1)", "Leave budget for both",
                          Where::key("metric_share"));
  }
  if (plan.average_last > plan.steps) {
    throw InvalidArgument("`average_last` is more than the steps", "Average fewer iterates",
                          Where::key("average_last"));
  }
  plan.releases = releases_of(plan, table.relation);
  return plan;
}

Accountant accountant_of(const FitPlan& plan, const PublicTable& table, const FitBudget& budget) {
  Accountant accountant(table.relation);
  for (const PrivateRelease& release : budget.before) accountant.compose(release);
  for (const PrivateRelease& release : only_releases(plan.releases)) accountant.compose(release);
  return accountant;
}

}  // namespace sfumato
