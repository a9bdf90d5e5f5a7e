#pragma once

#include <cstdint>
#include <vector>

#include "sfumato/core/claim.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/divergence/monte_carlo.hpp"
#include "sfumato/sde/diffusion.hpp"
#include "sfumato/sde/gaussian_distribution.hpp"
#include "sfumato/sde/simulate.hpp"
#include "sfumato/sde/time_grid.hpp"

namespace sfumato {

struct PathEstimateOptions {
  SimulateOptions simulation = {};
  /// Which bounds: 0 is the path bound of Spec §6.2, kappa > 0 the contractive bound of §6.3 (that the
  /// second drift contracts so fast is the caller's knowledge).
  std::vector<double> kappas = {0.0};
  /// Also with half the step, and extrapolated; costs three times the steps and twice the normals.
  bool halve = true;
};

/// An integrated bound at one time, estimated. `time` and `kappa` say which.
struct PathBoundEstimate {
  double time;
  double kappa;
  MonteCarloMean at_step;  ///< the chain with the grid's steps; bias O(step)
  MonteCarloMean
      at_half_step;  ///< with halved steps          } only if PathEstimateOptions::halve,
  MonteCarloMean extrapolated;  ///< 2 at_half_step - at_step   } else copies of at_step
  std::uint64_t diverged;       ///< paths that left the numbers; if any, the means are +inf
};

struct PathEstimate {
  std::vector<PathBoundEstimate> bounds;  ///< for each time of the grid, for each kappa
  std::uint64_t paths;                    ///< fewer than asked for when stopped
};

/// Bounds on KL(p_t || q_t) for two diffusions with the same noise, by simulating the first.
///
///   Spec §12.1:  I = (h/2) sum_k w_k |Sigma^{-1/2} (b - b')(X_k)|^2,   X the Euler chain of p from
///                `start`,  w_k = 2 e^{-kappa (t - s_k)} / (1 + e^{-kappa t})  (1 for kappa = 0)
///
/// All times and kappas come from one set of paths. The chains with h and h/2 share their Brownian
/// motion: a long step adds the two short steps' normals. So each path gives its own 2 I(h/2) - I(h),
/// whose standard error is about that of I (independent chains would have sqrt(5) times it).
/// The mean for the chain itself is exactly its path KL (Spec §8.2). The distributions start equal; where q
/// starts elsewhere, add KL(p_0 || q_0) to the path bound.
///
/// Claim    estimate: neither a bound nor, with the standard errors, a guarantee. The result does not
///          depend on the number of threads.
/// Stops    when the observer asks; the means are then over the paths done.
/// Throws   InvalidArgument if dimensions or constant noises differ, state-dependent noises differ at
///          the start points, Sigma is singular, kappa < 0, kappa > 0 with noise that depends on the
///          state, or as simulate().
[[nodiscard]] Claimed<PathEstimate> path_estimate(const Diffusion& p, const Diffusion& q,
                                                  const GaussianDistribution& start,
                                                  const TimeGrid& grid,
                                                  const PathEstimateOptions& options,
                                                  Observer& observer);

}  // namespace sfumato
