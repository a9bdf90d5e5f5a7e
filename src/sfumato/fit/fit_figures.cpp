#include <algorithm>
#include <utility>

#include "sfumato/core/error.hpp"
#include "sfumato/fit/fit_tables.hpp"

namespace sfumato {

using Eigen::Index;

namespace {

/// Shown around the epsilon that was taken.
constexpr double kFactors[] = {0.1, 0.18, 0.32, 0.56, 1.0, 1.8, 3.2, 5.6, 10.0};

double kept_at(const FitAnswer& answer, double epsilon) {
  FitBudget budget = answer.budget;
  budget.target.epsilon = Epsilon(epsilon);
  const FitPlan plan = plan_fit(answer.table, answer.plan.model, answer.plan.mechanism(),
                                answer.question.settings, budget);
  return std::max(0.0, 1.0 - predicted_loss(plan, answer.table));
}

}  // namespace

Figure bounds_figure(const FitAnswer& answer) {
  Axis sides{"bound"};
  const std::vector<FitBound> bounds = bounds_of(answer);
  for (const FitBound& bound : bounds) sides.categories.push_back(bound.label);
  Figure shown("sandwich_figure", "Privacy loss mu of the fit, from below and from above",
               Mark::columns, sides, {"mu"});
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    const FitBound& bound = bounds[i];
    Series series{bound.key, bound.label, {static_cast<double>(i)}, {bound.mu.value}};
    series.claim = bound.mu.claim;
    shown.add(std::move(series));
  }
  shown.set_caption(
      answer.rows ? Text("Rows against their absence, from the table itself: not for publication.")
                  : say("{} fits with a canary and as many without.", answer.audit->runs));
  return shown;
}

std::optional<Figure> by_epsilon_figure(const FitAnswer& answer) {
  if (answer.candidates > 1) return {};
  const double taken = answer.question.target_epsilon;
  const double kept = kept_at(answer, taken);
  if (!(kept > 0.0)) return {};
  // R^2 = (1 - lost) x what the features explain: the released R^2 tells the second factor.
  const bool released = answer.plan.model == FitModel::ridge && answer.held_out &&
                        answer.held_out->resolved && answer.held_out->value > 0.0;
  const double scale = released ? answer.held_out->value / kept : 1.0;
  Axis epsilons{"epsilon"};
  epsilons.scale = Scale::log;
  Axis explained{released ? "R^2" : "share kept of what the features explain"};
  explained.from = 0.0;
  Figure figure("by_epsilon", "Accuracy against epsilon, predicted", Mark::line, epsilons,
                explained);
  Series line{"predicted", "predicted", {}, {}};
  line.claim = Claim::estimate;
  for (const double factor : kFactors) {
    try {
      const double epsilon = factor * taken;
      line.y.push_back(scale * kept_at(answer, epsilon));
      line.x.push_back(epsilon);
    } catch (const InvalidArgument&) {
      continue;  // what was released before has spent it
    }
  }
  figure.add(std::move(line));
  Series here{"taken", released ? "this fit, released accuracy" : "this fit", {taken}, {}};
  here.y.push_back(released ? answer.held_out->value : kept);
  here.claim = Claim::estimate;
  here.mark = Mark::points;
  figure.add(std::move(here));
  figure.set_caption(
      released ? "From public quantities, through the accuracy that was released: it costs no "
                 "privacy, and is an order of magnitude."
               : "From public quantities alone: it costs no privacy, and is an order of "
                 "magnitude.");
  return figure;
}

Figure effects_figure(const FitAnswer& answer) {
  const LinearModel& model = answer.model;
  std::vector<double> widths;
  for (const FeatureColumn& column : answer.used.features) {
    const std::size_t first = widths.size();
    widths.resize(first + static_cast<std::size_t>(width_of(column)), 1.0);
    if (const auto* numeric = std::get_if<NumericColumn>(&column)) {
      widths[first] = numeric->high - numeric->low;
    }
  }
  Axis features{"feature"};
  features.categories = model.features;
  Figure figure("effects", "Effect of each feature over its range", Mark::columns, features,
                {answer.plan.model == FitModel::ridge ? answer.table.target : "log-odds"});
  Series series{"effect", "effect, with 95 % interval", {}, {}};
  series.claim = Claim::estimate;
  Intervals intervals;
  for (Index j = 0; j < model.coefficients.rows(); ++j) {
    const double width = widths[static_cast<std::size_t>(j)];
    const double value = width * model.coefficients(j, 0);
    const double half = width * kNormal95 * (*model.errors)(j);
    series.x.push_back(static_cast<double>(j));
    series.y.push_back(value);
    intervals.low.push_back(value - half);
    intervals.high.push_back(value + half);
  }
  series.y_intervals = intervals;
  figure.add(std::move(series));
  figure.set_caption("Intervals include the noise for privacy and sampling.");
  return figure;
}

}  // namespace sfumato
