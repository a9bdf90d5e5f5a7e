#pragma once

#include <Eigen/Core>

namespace sfumato {

/// The best way to spread a budget over items.
struct Spread {
  Eigen::VectorXd shares;                          ///< u_i, what each item gets
  Eigen::Array<bool, Eigen::Dynamic, 1> at_floor;  ///< items that get their floor and no more
  double level;                                    ///< nu: the others get u_i = root_i / nu
  double free_budget;                              ///< what the others share
  double cost;                                     ///< sum_i root_i^2 / u_i, the minimum
};

/// Minimises  sum_i root_i^2 / u_i  over  u_i >= floor_i,  sum_i u_i = budget.
///
///   Spec §9.1 without floors:  u_i = budget root_i / sum root,   cost (sum root)^2 / budget
///
/// With floors the conditions of Karush, Kuhn and Tucker say u_i = max(floor_i, root_i / nu); the
/// items at their floor are found exactly, by lowering those that fall below it until none does.
///
/// Assumes  roots >= 0 with a positive one, floors >= 0, sum floor <= budget.
/// Edges    root 0 without a floor gets 0 and costs 0.
[[nodiscard]] Spread spread_budget(const Eigen::VectorXd& roots, const Eigen::VectorXd& floors,
                                   double budget);

}  // namespace sfumato
