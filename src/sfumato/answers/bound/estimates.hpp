#pragma once

#include <vector>

#include "sfumato/answers/bound/evaluate.hpp"

namespace sfumato {

/// What simulation and grids say, one entry per time.
struct Estimates {
  std::vector<std::vector<PairBound>> methods;
  std::vector<GridRisk> grid;  ///< fewer, or none, where the grid was not used or was stopped
};

/// How much is simulated.
struct SimulationSize {
  std::uint64_t paths;
  double step;
};

/// Longer paths are not simulated.
inline constexpr double kMostSteps = 1e7;

/// What the file asks for or, by default, 20000 paths of 1000 steps, at most 0.01 long (half the
/// stable length where the steepest curvature is known); fewer paths where a drift runs over a table,
/// so that the work stays near 1e11 operations. Depends on the problem alone, not on the machine.
[[nodiscard]] SimulationSize simulation_size(const BoundProblem& problem);

/// Fokker-Planck in one or two dimensions (Spec §12.3, §12.4); path integrals by simulation where
/// both noises are the same (§12.1); scores of particles where they are not, up to three dimensions
/// and only where the grid has nothing (§12.2).
///
/// Assumes  finite ascending times.
/// Throws   as evaluate_bounds.
[[nodiscard]] Estimates estimate_pair(const BoundProblem& problem, const std::vector<double>& times,
                                      Observer& observer);

}  // namespace sfumato
