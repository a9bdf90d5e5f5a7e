#pragma once

#include <functional>

#include "sfumato/design/design.hpp"

namespace sfumato {

/// The design with the least budget whose value is at most `risk`: the inverse question. `solve`
/// gives the design for a budget, its value must fall as the budget grows.
///
/// Without a floor one solve is enough, since values are inversely proportional to budgets. With one,
/// `least_budget` is what the floor takes; the budget is then searched until the value is within
/// 1e-9 below the risk, or the floor alone already suffices.
///
/// Throws   InvalidArgument if risk is not positive, NumericalFailure if no budget reaches it.
[[nodiscard]] Design design_for_risk(const std::function<Design(double budget)>& solve, double risk,
                                     double least_budget = 0.0);

}  // namespace sfumato
