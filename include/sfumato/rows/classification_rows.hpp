#pragma once

#include <string>
#include <vector>

#include "sfumato/core/observer.hpp"
#include "sfumato/rows/row_risk.hpp"
#include "sfumato/sde/problem/classification.hpp"

namespace sfumato {

/// Bounds on the risk of every row, and what limits them.
struct ClassificationRows {
  std::vector<RowRisk> rows;
  std::vector<std::string> notes;  ///< bounds that do not apply, or apply in a weaker form, and why
};

/// Proven upper bounds on the risk of every row of a classification problem. In every view the
/// smallest of
///
///   flow    KL from convexity constants (Spec §7.4), for isotropic noise; mu by Spec §6.4
///   chain   KL by Spec §8.3 with the same constants (kl_bound_chain), for isotropic noise; mu by
///           Spec §8.4
///   minimiser plus noise   mu = |S^{-1/2} (w* - w'*)|, from the certified minimisers
///
/// A neighbour without a minimiser (no ridge) keeps the bounds that need none; after the release of
/// the minimiser it is no_model.
///
/// Assumes  full-batch gradients that are not clipped.
/// Cost     O(N p) for each row; the result does not depend on `threads`.
/// Stops    when the observer asks; the remaining rows are not_computed.
/// Throws   InvalidArgument for noise, start or replacement of the wrong size, a noise that is no
///          covariance or is singular, a time, learning rate or number of steps out of range, a table
///          of which no row is left; NumericalFailure, with what to do, where no bound holds: in the
///          long run without contraction, or for a table without a minimiser.
[[nodiscard]] ClassificationRows row_bounds(const ClassificationProblem& problem,
                                            const RowRiskOptions& options, Observer& observer);

}  // namespace sfumato
