#pragma once

#include "sfumato/core/observer.hpp"
#include "sfumato/design/design.hpp"
#include "sfumato/design/differences.hpp"

namespace sfumato {

/// When an iterative design stops.
struct SolverOptions {
  double tolerance = 1e-8;    ///< relative gap between the two bounds
  int max_iterations = 2000;  ///< evaluations of all costs
  unsigned threads = 0;       ///< 0: as many as the machine has; no result depends on it
  bool compare = false;       ///< solve the diagonal form too, for Design::gain_over_diagonal
};

/// The covariance with the least worst cost  max_k s_k^T Sigma^{-1} s_k  (Spec §9.3 and §9.4, with
/// floors as in spread_budget). `gap` is proven: lower_bound is the dual value of some weights,
/// objective the cost of this covariance over all differences, whatever the iterations did.
///
/// Cost     per evaluation O(K d) for the isotropic, grouped and diagonal forms, O(K r^2 + r^3) with
///          r = min(K, d) for the full forms, after O(d K^2) for K < d.
/// Memory   diagonal: nothing of the size of the differences; full forms: one whitened copy.
/// Edges    a difference with a part outside the numerical range of the others has an infinite cost
///          without floor and regularisation: value and gap are +inf, warning dropped_direction.
/// Throws   InvalidArgument for what require_differences and require_task refuse, sizes that differ,
///          a tolerance that is not positive; for the full forms without floor and regularisation also
///          if all differences lie on one line and d > 1.
[[nodiscard]] Design minimax_design(const Differences& differences, const DesignTask& task,
                                    const SolverOptions& options, Observer& observer);

/// Largest and mean cost of a given covariance, +inf where a difference meets no noise.
struct DesignCosts {
  double worst;
  double mean;
};
[[nodiscard]] DesignCosts costs_of(const Covariance& covariance, const Differences& differences);

}  // namespace sfumato
