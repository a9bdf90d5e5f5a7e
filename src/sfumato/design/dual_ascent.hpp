#pragma once

#include <Eigen/Core>

#include "sfumato/core/observer.hpp"
#include "sfumato/design/dual_problem.hpp"
#include "sfumato/design/minimax_design.hpp"

namespace sfumato {

struct DualAscent {
  Eigen::VectorXd weights;  ///< where the upper bound was smallest
  double upper_bound;       ///< max_k cost_k there
  double lower_bound;       ///< the largest D(w) met
  int iterations;
  bool converged;
};

/// Maximises D over the simplex until  upper_bound <= (1 + tolerance) lower_bound.
///
/// Starts with the multiplicative update of Spec §9.3 (5), then alternates with Newton steps: D is of
/// degree one, so its maximum over the simplex is that of 2 sqrt(D) - sum w over w >= 0, whose
/// quadratic model is minimised with bounds on the weights that matter. A step is kept only if D
/// rises, otherwise the multiplicative update is used. Both bounds hold at every step.
///
/// Stops at the next step when the observer asks, and where rounding keeps the bounds apart (second
/// moments whose eigenvalues differ by twelve decades), with what it has.
[[nodiscard]] DualAscent maximise_dual(DualProblem& problem, const SolverOptions& options,
                                       Observer& observer);

}  // namespace sfumato
