#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sfumato/core/observer.hpp"
#include "sfumato/design/design_task.hpp"
#include "sfumato/design/iterated_design.hpp"
#include "sfumato/problem/sde_problem.hpp"
#include "sfumato/problem/simulation_size.hpp"

namespace sfumato {

/// A problem whose noise is free to choose, and what is asked of it.
struct Iteration {
  SdeProblem problem;
  ErrorMeasure measure;
  DesignTask task;
  double time;
  SimulationSize size;  ///< where distributions are simulated
};

/// Reads the problem file and checks the question against it.
/// Throws   InvalidArgument for keys that do not go with a problem, for one whose noise is not free; as
///          read_sde_problem.
[[nodiscard]] Iteration read_iteration(const DesignQuestion& question);

/// Below this share of the isotropic variance a direction counts as nearly bare.
inline constexpr double kBareShare = 1e-2;

/// Throws   as iterate_design.
[[nodiscard]] IterationAnswer iterate(const Iteration& iteration, const DesignQuestion& question,
                                      Observer& observer);

/// How much smaller a KL became; 1 where it did not, also if both are 0 or infinite.
[[nodiscard]] double gain(double before, double after);

}  // namespace sfumato
