#pragma once

#include <Eigen/Core>
#include <functional>
#include <vector>

#include "sfumato/design/budget.hpp"
#include "sfumato/design/design.hpp"

namespace sfumato {

/// Where the noise of a design goes.
struct NoiseShare {
  Eigen::Index index;  ///< of the coordinate or group
  double variance;     ///< of the coordinate; mean over the group
  double share;        ///< of tr(W Sigma), by the diagonal entries of W Sigma; they add up to 1
};

/// The `count` coordinates with the largest shares, largest first; ties by index.
[[nodiscard]] std::vector<NoiseShare> largest_coordinates(const Covariance& covariance,
                                                          const Covariance& weights,
                                                          Eigen::Index count);

/// The same for groups of coordinates, numbered from 0 in `groups`.
/// Throws   InvalidArgument if `groups` has not one number >= 0 for each coordinate.
[[nodiscard]] std::vector<NoiseShare> largest_groups(const Covariance& covariance,
                                                     const Covariance& weights,
                                                     const std::vector<Eigen::Index>& groups,
                                                     Eigen::Index count);

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
