#pragma once

#include <cstdint>
#include <vector>

#include "sfumato/core/observer.hpp"
#include "sfumato/sde/diffusion.hpp"
#include "sfumato/sde/euler_maruyama.hpp"
#include "sfumato/sde/gaussian_distribution.hpp"
#include "sfumato/sde/time_grid.hpp"

namespace sfumato {

struct SimulateOptions {
  std::uint64_t paths = 10000;
  RandomRun random = {};
  unsigned threads = 0;  ///< 0: as many as the machine has
};

/// All paths at one time; row j is path j.
struct Cloud {
  double time;
  Points points;
};

struct Simulation {
  std::vector<Cloud> clouds;            ///< one for each time of the grid
  std::vector<std::uint64_t> diverged;  ///< paths that left the numbers: they stay where they were
  std::uint64_t paths = 0;              ///< rows of the clouds; fewer than asked for when stopped
};

/// Euler-Maruyama paths of a diffusion, seen at the times of the grid (Spec §12.1).
///
/// Path j is a pure function of (seed, run, j): the same bits for any number of paths and threads.
/// Its distribution is that of the chain with the grid's steps, which differs from the diffusion's by O(step).
///
/// Diverging paths (non-finite or beyond kDivergedBeyond, as happens when a step is too long for a
/// steep drift) are frozen at their last finite value and listed; clouds never hold NaN.
///
/// Stops    when the observer asks: the first paths, complete.
/// Throws   InvalidArgument as segments() and EulerMaruyama do, or if paths is 0; NumericalFailure if
///          the noise function returns something that is no covariance; and what the fields throw.
[[nodiscard]] Simulation simulate(const Diffusion& diffusion, const GaussianDistribution& start,
                                  const TimeGrid& grid, const SimulateOptions& options,
                                  Observer& observer);

}  // namespace sfumato
