#include "sfumato/fit/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <variant>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/fit/mechanism.hpp"
#include "sfumato/fit/ranges.hpp"
#include "sfumato/fit/sensitivity.hpp"

namespace sfumato {

std::string_view name(NoiseMode mode) { return mode == NoiseMode::grid ? "grid" : "gaussian"; }

namespace {

/// A loss that nobody would see, of the variance of the signal (Spec §22.7).
constexpr double kIndifferent = 0.005;
/// Clip factor of classes: residuals are about that long.
constexpr double kClassClip = 0.5;

/// Clip factors of squares: smaller ones have less noise, and more bias (Spec §22.7).
constexpr double kClipFactors[] = {0.05, 0.1, 0.15, 0.2, 0.3, 0.45, 0.6, 0.9};
/// The price of narrower ranges: as much as keeps four halvings within what the noise may leave uncertain, a tenth at least; nothing where that would
/// be more than three tenths. A rule of public quantities (chosen on tables of the study, docs/results/fit.md; not confirmed on others).
double range_share_of(const PublicTable& table, FitModel model, const FitPlan& plan) {
  constexpr double kLeast = 0.1, kMost = 0.3, kUncertain = 0.05 / 6.0;
  const double noise = range_noise(table, model, plan.mu, plan.rows);
  const double needed = (noise / kUncertain) * (noise / kUncertain);
  return needed > kMost ? 0.0 : std::max(kLeast, needed);
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

/// Only a whitened logistic regression pays for intervals, and the shares leave something.
void require_shares(const FitPlan& plan, FitMechanism mechanism) {
  if (plan.interval_share > 0.0 &&
      (plan.model != FitModel::logistic || mechanism != FitMechanism::whitened)) {
    throw InvalidArgument(
        "only intervals of a whitened logistic regression are paid for by themselves",
        plan.model == FitModel::ridge
            ? "Those of a linear regression come with its accuracy: leave it out"
            : "Leave it out, or use `mechanism` = whitened",
        Where::key("interval_share"));
  }
  if (!(plan.range_share >= 0.0 && plan.interval_share >= 0.0 &&
        plan.range_share + plan.interval_share < 1.0)) {
    throw InvalidArgument("`range_share` and `interval_share` leave nothing for the fit",
                          "Take smaller shares", Where::key("range_share"));
  }
}

/// Squares in their own metric are solved by one step of size 1; logistic losses are flatter.
PlannedDescent usual_descent(const FitSettings& settings, FitModel model) {
  const bool squares = model == FitModel::ridge;
  PlannedDescent usual;
  usual.steps = settings.steps.value_or(squares ? 24 : 40);
  usual.average_last =
      settings.average_last.value_or(std::max<std::uint64_t>(1, 2 * usual.steps / 3));
  usual.learning_rate = settings.learning_rate.value_or(squares ? 1.0 : 4.0);
  usual.clip_factor = settings.clip_factor.value_or(squares ? 0.6 : kClassClip);
  return usual;
}

}  // namespace

double FitPlan::range_mu() const { return std::sqrt(range_share) * mu; }
double FitPlan::interval_mu() const { return std::sqrt(interval_share) * mu; }
double FitPlan::fit_mu() const { return std::sqrt(1.0 - range_share - interval_share) * mu; }

const PlannedDescent* FitPlan::descent() const {
  return std::visit(
      [](const auto& one) -> const PlannedDescent* {
        if constexpr (requires { one.descent; }) return &one.descent;
        return nullptr;
      },
      how);
}

const PlannedMetric* FitPlan::metric() const {
  return std::visit(
      [](const auto& one) -> const PlannedMetric* {
        if constexpr (requires { one.metric; }) return &one.metric;
        return nullptr;
      },
      how);
}

double FitPlan::ridge() const {
  return std::visit(
      [](const auto& one) {
        if constexpr (requires { one.ridge; }) return one.ridge;
        return 0.0;
      },
      how);
}

double FitPlan::moments_mu() const { return std::sqrt(metric()->share) * fit_mu(); }

double FitPlan::round_mu() const {
  return moments_mu() / std::sqrt(static_cast<double>(metric()->rounds));
}

const MechanismRules& rules_of(FitMechanism mechanism) {
  static const std::vector<const MechanismRules*> all = []<class... Fits>(std::variant<Fits...>*) {
    return std::vector{&Fits::rules()...};
  }(static_cast<AnyFit*>(nullptr));
  return *all.at(static_cast<std::size_t>(mechanism));
}

std::string_view name(FitMechanism mechanism) { return rules_of(mechanism).name; }
std::string_view description(FitMechanism mechanism) { return rules_of(mechanism).description; }

std::vector<FitMechanism> fit_mechanisms() {
  std::vector<FitMechanism> all;
  for (std::size_t i = 0; i < std::variant_size_v<AnyFit>; ++i) {
    all.push_back(static_cast<FitMechanism>(i));
  }
  return all;
}

InvalidArgument unproven(std::string_view mechanism, FitModel model, const char* reason) {
  return {fmt::format("`mechanism` = {} has no guarantee for {} regression: {}", mechanism,
                      name(model), reason),
          "Use whitened or isotropic", Where::key("mechanism")};
}

std::vector<double> clip_factors(const FitSettings& settings, const FitPlan& plan) {
  if (settings.clip_factor) return {*settings.clip_factor};
  // Intervals need gradients that are hardly ever clipped: those of rows no longer than the ones whose curvature is released are not.
  if (plan.interval_share > 0.0) return {kRowsInMetric};
  if (plan.model != FitModel::ridge) return {kClassClip};
  return {std::begin(kClipFactors), std::end(kClipFactors)};
}

double step_multiplier(const FitPlan& plan, double share, std::uint64_t steps,
                       NeighbouringRelation relation) {
  return split_budget(plan.fit_mu(), share, static_cast<double>(steps), relation).noise_multiplier;
}

double metric_floor(const FitPlan& plan, double clip_factor, double multiplier) {
  const double moved = multiplier * clip_factor * plan.bound / plan.rows;
  return moved * moved;
}

PlannedMetric planned_metric(const FitSettings& settings) {
  return {settings.metric_share.value_or(0.3), settings.metric_ridge.value_or(0.45),
          settings.metric_rounds.value_or(3), kRowsInMetric};
}

FitRelease gaussian_release(std::string name, double mu_each, std::uint64_t steps,
                            NeighbouringRelation relation) {
  return {std::move(name),
          {GaussianNoise{multiplier_of_mu(mu_each, relation)}, Sampler::full, 1.0, steps},
          mu_each * std::sqrt(static_cast<double>(steps))};
}

FitRelease metric_release(const FitPlan& plan, NeighbouringRelation relation) {
  const std::uint64_t rounds = plan.metric()->rounds;
  return gaussian_release(rounds == 1 ? "second moments of the features"
                                      : fmt::format("second moments, {} rounds", rounds),
                          plan.round_mu(), rounds, relation);
}

FitRelease descent_release(const FitPlan& plan, double share, NeighbouringRelation relation) {
  const std::uint64_t steps = plan.descent()->steps;
  return gaussian_release(fmt::format("{} gradient sums", steps),
                          plan.fit_mu() * std::sqrt(share / static_cast<double>(steps)), steps,
                          relation);
}

std::vector<FitMechanism> mechanisms_of(FitModel model, NoiseMode mode) {
  std::vector<FitMechanism> valid = fit_mechanisms();
  std::erase_if(valid,
                [&](FitMechanism one) { return rules_of(one).refuse(model, mode).has_value(); });
  return valid;
}

std::vector<FitMechanism> mechanisms_for(const PublicTable& table, FitModel model,
                                         const FitSettings& settings) {
  std::vector<FitMechanism> valid = mechanisms_of(model, settings.noise_mode);
  std::erase_if(valid, [&](FitMechanism one) { return !rules_of(one).fits(table, settings); });
  return valid;
}

FitPlan plan_fit(const PublicTable& table, FitModel model, FitMechanism mechanism,
                 const FitSettings& settings, const FitBudget& budget) {
  require_public(table, model);
  const MechanismRules& rules = rules_of(mechanism);
  if (const auto refusal = rules.refuse(model, settings.noise_mode)) throw *refusal;
  if (!(settings.holdout >= 0.0 && settings.holdout <= 0.9)) {
    throw InvalidArgument("`holdout` is not in [0, 0.9]", "Keep some rows for the fit",
                          Where::key("holdout"));
  }
  FitPlan plan{};
  plan.model = model;
  plan.mu = std::sqrt(budget.share) * affordable_mu(budget, table.relation);
  plan.holdout = settings.holdout;
  plan.rows = (1.0 - settings.holdout) * static_cast<double>(table.rows);
  plan.bound = table.bound();
  plan.noise_mode = settings.noise_mode;
  // The shares depend on public numbers alone; each release below is charged at the mu that its share buys.
  plan.range_share = settings.range_share.value_or(range_share_of(table, model, plan));
  plan.interval_share = settings.interval_share;
  require_shares(plan, mechanism);
  // After the shares: a mechanism spends what ranges and intervals leave.
  rules.plan({table, settings, usual_descent(settings, model)}, &plan);
  const PlannedMetric* metric = plan.metric();
  if (metric != nullptr && !(metric->share > 0.0 && metric->share < 1.0)) {
    throw InvalidArgument("`metric_share` is not in (0, 1)", "Leave budget for both",
                          Where::key("metric_share"));
  }
  const PlannedDescent* descent = plan.descent();
  if (descent != nullptr && descent->average_last > descent->steps) {
    throw InvalidArgument("`average_last` is more than the steps", "Average fewer iterates",
                          Where::key("average_last"));
  }
  // In the order in which they are made: a later release may use what an earlier one published.
  if (plan.range_share > 0.0) {
    plan.releases.push_back(
        gaussian_release("ranges of the columns", plan.range_mu(), 1, table.relation));
  }
  for (FitRelease& one : rules.releases(plan, table.relation)) {
    plan.releases.push_back(std::move(one));
  }
  if (plan.interval_share > 0.0) {
    plan.releases.push_back(
        gaussian_release("curvature, for intervals", plan.interval_mu(), 1, table.relation));
  }
  return plan;
}

Accountant accountant_of(const FitPlan& plan, const PublicTable& table, const FitBudget& budget) {
  Accountant accountant(table.relation);
  for (const PrivateRelease& release : budget.before) accountant.compose(release);
  for (const FitRelease& one : plan.releases) accountant.compose(one.release);
  return accountant;
}

double predicted_loss(const FitPlan& plan, const PublicTable& table) {
  return rules_of(plan.mechanism()).predict(plan, table);
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
