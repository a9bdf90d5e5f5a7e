#include "sfumato/fit/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sfumato/core/check.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/fit/descent.hpp"
#include "sfumato/fit/prediction.hpp"
#include "sfumato/fit/ranges.hpp"
#include "sfumato/fit/sensitivity.hpp"

namespace sfumato {

using Eigen::Index;
using Eigen::VectorXd;

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

/// Second derivative of the loss in z.u, at a typical point: of squares 1, of a logistic loss p(1-p).
double curvature_of(FitModel model) { return model == FitModel::ridge ? 1.0 : 0.15; }
/// Its largest value (Spec §22.5).
double largest_curvature(FitModel model) {
  return model == FitModel::ridge ? 1.0 : model == FitModel::logistic ? 0.25 : 0.5;
}
/// What residuals are measured in: the bound of the target; of classes 1.
double residual_scale(const PublicTable& table, FitModel model) {
  return model == FitModel::ridge ? table.target_bound() : 1.0;
}

/// A problem as it is imagined before the data are seen: rows as long as they may be, eigenvalues like 1/j, a signal spread evenly.
struct Prior {
  VectorXd eigenvalues;
  VectorXd optimum;
  double variance;  ///< of the signal
};

Prior prior_of(const PublicTable& table, FitModel model, double bound) {
  const Index d = table.dim();
  const double scale = residual_scale(table, model);
  Prior prior;
  prior.eigenvalues = VectorXd::LinSpaced(d, 1.0, static_cast<double>(d)).cwiseInverse();
  prior.eigenvalues *= curvature_of(model) * bound * bound / prior.eigenvalues.sum();
  // A third of the range is a usual deviation of a quantity; logits of classes have a deviation of about 1.
  prior.variance = model == FitModel::ridge ? scale * scale / 9.0 : curvature_of(model);
  prior.optimum =
      (prior.variance / static_cast<double>(d) * prior.eigenvalues.cwiseInverse()).cwiseSqrt();
  return prior;
}

double clip_of(const PublicTable& table, const FitPlan& plan, double effective_dim) {
  const double scale = residual_scale(table, plan.model);
  return plan.mechanism == FitMechanism::isotropic
             ? plan.clip_factor * scale * plan.bound
             : plan.clip_factor * scale * std::sqrt(std::max(1.0, effective_dim));
}

DescentShape shape_of(const PublicTable& table, const FitPlan& plan, const Prior& prior) {
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
    const double noise = second_moment_mu(plan.bound, 1.0, table.relation) / plan.moments_mu();
    shape.metric = DescentMetric::whitened;
    shape.metric_ridge =
        curvature_of(plan.model) * plan.metric_ridge * noise * std::sqrt(2.0 * d) / plan.rows;
    effective = whitening_gain(prior.eigenvalues, shape.metric_ridge, 0.0).effective_dim;
    // The step is taken in the metric of x, in which the loss has its curvature.
    shape.learning_rate *= curvature_of(plan.model);
    shape.noise_multiplier /= std::sqrt(curvature_of(plan.model));
  }
  shape.clip = clip_of(table, plan, effective);
  return shape;
}

void choose_isotropic(const PublicTable& table, const FitSettings& settings, FitPlan* plan) {
  // The best of a few public numbers of steps and step sizes for the imagined problem.
  const Prior prior = prior_of(table, plan->model, plan->bound);
  const double largest = 1.0 / (largest_curvature(plan->model) * plan->bound * plan->bound);
  double best = std::numeric_limits<double>::infinity();
  FitPlan chosen = *plan;
  for (const std::uint64_t steps : {25U, 50U, 100U, 200U, 400U, 800U}) {
    for (const double rate : {0.25, 0.5, 1.0, 2.0, 4.0}) {
      FitPlan tried = *plan;
      tried.steps = settings.steps.value_or(steps);
      tried.average_last =
          settings.average_last.value_or(std::max<std::uint64_t>(1, tried.steps / 2));
      tried.learning_rate = settings.learning_rate.value_or(rate * largest);
      tried.noise_multiplier =
          split_budget(tried.fit_mu(), 0.0, static_cast<double>(tried.steps), table.relation)
              .noise_multiplier;
      if (rate > 1.0 && tried.learning_rate * prior.eigenvalues(0) > 1.9) continue;
      const double loss =
          predicted_excess_loss(prior.eigenvalues, prior.optimum, shape_of(table, tried, prior))
              .total();
      if (loss < best) best = loss, chosen = tried;
    }
  }
  *plan = chosen;
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
  if (plan.range_share > 0.0) add("ranges of the columns", plan.range_mu(), 1);
  switch (plan.mechanism) {
    case FitMechanism::whitened:
      add("second moments of the features", plan.moments_mu(), 1);
      [[fallthrough]];
    case FitMechanism::isotropic:
      add(fmt::format("{} gradient sums", plan.steps),
          mu * std::sqrt(steps_share / static_cast<double>(plan.steps)), plan.steps);
      break;
    case FitMechanism::statistics: add("second moments of features and target", mu, 1); break;
    case FitMechanism::last_iterate:
      releases.push_back({"last iterate of a noisy descent", {HiddenIterates{mu}}, mu});
      break;
    case FitMechanism::minimiser:
      add("second moments of the features", plan.moments_mu(), 1);
      add("regularised minimiser", mu * std::sqrt(steps_share), 1);
      break;
  }
  return releases;
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

}  // namespace

double FitPlan::range_mu() const { return std::sqrt(range_share) * mu; }
double FitPlan::fit_mu() const { return std::sqrt(1.0 - range_share) * mu; }

double FitPlan::moments_mu() const {
  switch (mechanism) {
    case FitMechanism::whitened:
    case FitMechanism::minimiser: return std::sqrt(metric_share) * fit_mu();
    case FitMechanism::statistics: return fit_mu();
    default: return 0.0;
  }
}

double metric_noise_ratio(double dim, double metric_share, double mu, double rows) {
  return std::sqrt(2.0) * std::pow(dim, 1.5) / (std::sqrt(metric_share) * mu * rows);
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
  plan.mu = affordable_mu(budget, table.relation);
  plan.holdout = settings.holdout;
  plan.rows = (1.0 - settings.holdout) * static_cast<double>(table.rows);
  plan.bound = table.bound();
  plan.noise_mode = settings.noise_mode;
  // Ranges are worth their share where four halvings stay within what the noise may leave uncertain: a rule of public quantities.
  constexpr double kRangeShare = 0.1;
  const bool found =
      range_noise(table, model, std::sqrt(kRangeShare) * plan.mu, plan.rows) <= 0.05 / 6.0;
  plan.range_share = settings.range_share.value_or(found ? kRangeShare : 0.0);
  if (!(plan.range_share >= 0.0 && plan.range_share < 1.0)) {
    throw InvalidArgument("`range_share` is not in [0, 1)", "Leave budget for the fit",
                          Where::key("range_share"));
  }
  plan.metric_share = settings.metric_share.value_or(0.3);
  plan.metric_ridge = settings.metric_ridge.value_or(0.3);
  // Squares in their own metric are solved by one step of size 1; logistic losses are flatter.
  const bool squares = model == FitModel::ridge;
  plan.steps = settings.steps.value_or(squares ? 24 : 40);
  plan.average_last = settings.average_last.value_or(
      std::max<std::uint64_t>(1, std::min<std::uint64_t>(16, 2 * plan.steps / 3)));
  plan.learning_rate = settings.learning_rate.value_or(squares ? 1.0 : 4.0);
  plan.clip_factor = settings.clip_factor.value_or(squares ? 0.6 : 1.0);
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
      // Half the tolerance of minimise() for rounding, decided before the table is opened.
      if (0x1p-50 * (static_cast<double>(table.rows) + d) * static_cast<double>(table.rows) /
              plan.rows >
          5e-9) {
        throw InvalidArgument("so many rows cannot be summed precisely enough for a minimiser",
                              "Use whitened", Where::key("mechanism"));
      }
      const double spend = plan.fit_mu() * std::sqrt(1.0 - plan.metric_share) * plan.rows;
      plan.ridge =
          settings.ridge.value_or(std::cbrt(2.0 * curvature_of(model) * d * d / (spend * spend)));
      plan.steps = 1;
      plan.average_last = 1;
      break;
    }
    case FitMechanism::statistics: plan.metric_share = 1.0; break;
    case FitMechanism::whitened: break;
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

double predicted_loss(const FitPlan& plan, const PublicTable& table) {
  const Prior prior = prior_of(table, plan.model, plan.bound);
  const auto d = static_cast<double>(table.dim());
  switch (plan.mechanism) {
    case FitMechanism::whitened:
    case FitMechanism::isotropic:
      return 2.0 *
             predicted_excess_loss(prior.eigenvalues, prior.optimum, shape_of(table, plan, prior))
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
      const double norm2 = prior.variance / curvature_of(plan.model);
      return (plan.ridge * norm2 + curvature_of(plan.model) * s * s * d) / prior.variance;
    }
  }
  throw InternalError("a mechanism without a prediction");
}

FitMechanism choose_mechanism(const PublicTable& table, FitModel model, const FitSettings& settings,
                              const FitBudget& budget) {
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
