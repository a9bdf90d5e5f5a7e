#pragma once

#include <cstdint>

#include "sfumato/problem/sde_problem.hpp"

namespace sfumato {

/// How much is simulated.
struct SimulationSize {
  std::uint64_t paths;
  double step;
};

/// Longer paths are not simulated.
inline constexpr double kMostSteps = 1e7;

/// What the problem asks for or, by default, 20000 paths of 1000 steps, at most 0.01 long (half the
/// stable length where the steepest curvature is known); fewer paths where a drift runs over a table,
/// so that the work stays near 1e11 operations. Depends on the problem alone, not on the machine.
[[nodiscard]] SimulationSize simulation_size(const SdeProblem& problem);

}  // namespace sfumato
