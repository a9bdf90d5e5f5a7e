#include "sfumato/design/budget_for_risk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sfumato/core/check.hpp"

namespace sfumato {
namespace {

[[noreturn]] void throw_out_of_reach(double risk, double value) {
  throw NumericalFailure(fmt::format("no budget brings the cost to {}: it is {}", risk, value),
                         "Set a floor or a regularisation, or ask for a larger risk",
                         Where::here("design_for_risk"));
}

}  // namespace

Design design_for_risk(const std::function<Design(double)>& solve, double risk,
                       double least_budget) {
  require_positive("risk", risk);
  require_non_negative("least_budget", least_budget);
  if (least_budget == 0.0) {
    const Design unit = solve(1.0);
    if (!std::isfinite(unit.value)) throw_out_of_reach(risk, unit.value);
    return rescaled(unit, unit.value / risk);
  }
  // 1/value grows almost linearly with the budget (exactly without a floor): secant steps on it.
  constexpr int kSteps = 60;
  constexpr double kTolerance = 1e-9;
  double low = least_budget;
  Design best = solve(low);
  if (best.value <= risk) return best;
  double low_inverse = 1.0 / best.value;
  double high = low;
  do {
    if (!std::isfinite(best.value) || high > 1e12 * least_budget)
      throw_out_of_reach(risk, best.value);
    high *= std::max(2.0, best.value / risk);
    best = solve(high);
  } while (best.value > risk);
  for (int step = 0; step < kSteps && best.value < risk * (1.0 - kTolerance); ++step) {
    const double high_inverse = 1.0 / best.value;
    // Aimed a little past the root, so that the side that is kept moves; halving keeps it honest.
    double share = (1.0 / risk - low_inverse) / (high_inverse - low_inverse) + 0.25 * kTolerance;
    if (step % 4 == 3) share = 0.5;
    const double middle = low + std::min(1.0, share) * (high - low);
    Design trial = solve(middle);
    if (trial.value <= risk) {
      high = middle;
      best = std::move(trial);
    } else {
      low = middle;
      low_inverse = 1.0 / trial.value;
    }
  }
  return best;
}

}  // namespace sfumato
