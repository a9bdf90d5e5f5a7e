#include "sfumato/fit/by_epsilon.hpp"

#include <algorithm>
#include <utility>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

/// Shown around the epsilon that was taken.
constexpr double kFactors[] = {0.1, 0.18, 0.32, 0.56, 1.0, 1.8, 3.2, 5.6, 10.0};

double kept_at(const FitAnswer& answer, double epsilon) {
  FitBudget budget = answer.budget;
  budget.target.epsilon = Epsilon(epsilon);
  const FitPlan plan = plan_fit(answer.table, answer.plan.model, answer.plan.mechanism,
                                answer.question.settings, budget);
  return std::max(0.0, 1.0 - predicted_loss(plan, answer.table));
}

}  // namespace

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

}  // namespace sfumato
