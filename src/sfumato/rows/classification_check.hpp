#pragma once

#include <cstdint>
#include <string>

#include "sfumato/core/observer.hpp"
#include "sfumato/divergence/monte_carlo.hpp"
#include "sfumato/rows/row_risk.hpp"
#include "sfumato/sde/problem/classification_fit.hpp"

namespace sfumato {

struct RowCheckOptions {
  std::uint64_t seed = 1;
  std::uint64_t paths = 1024;  ///< at most
  /// Products of a feature with a weight that one direction may cost; about 1e-9 s each and core.
  double work = 4e9;
  unsigned threads = 0;
};

/// Checks one row of a flow or a chain by Monte Carlo (path_estimate, Spec §12.1).
///
///   finite   the bound of Spec §6.3 (flow) or §8.3 (chain) at the same time, the better of the path
///            bound and the contractive one; the flow in fifty steps or more, of half the inverse
///            curvature at most
///   +inf     D/kappa (flow) or eta D (1 + c)/(2 (1 - c)) (chain): D = E |Sigma^{-1/2} (grad f - grad
///            f')|^2 under the stationary distribution, averaged over paths that start from its normal
///            approximation at the minimiser and run for five of its relaxation times
///
/// In expectation both are at most the bounds of row_bounds() on the KL, steps apart.
///
/// Claim    estimate. The result does not depend on `threads`.
/// Stops    when the observer asks: a reason instead of numbers.
/// Throws   as row_bounds().
[[nodiscard]] RowCheck check_row(const ClassificationFit& fit, Eigen::Index row,
                                 const RowRiskOptions& options, const RowCheckOptions& check,
                                 Observer& observer);

}  // namespace sfumato
