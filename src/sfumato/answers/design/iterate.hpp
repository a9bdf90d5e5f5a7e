#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sfumato/answers/design/task.hpp"
#include "sfumato/answers/problem/sde_problem.hpp"
#include "sfumato/answers/problem/simulation_size.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/design/iterated_design.hpp"

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

/// What an iterated design (Spec §9.5) came to, and the problem it speaks of.
struct IterationAnswer {
  std::string kind;           ///< of the problem: "linear drift (quadratic loss)"
  std::string way_of_change;  ///< how D' was made from D, if by a rule
  double time;                ///< when the noises were judged
  bool exact;                 ///< KL(D||D') of the rounds is exact, else a simulated bound
  std::uint64_t paths;        ///< where it is simulated: how
  std::uint64_t seed;
  double step;
  IteratedDesign design;
  /// Beside each round: KL(D'||D) where exact, else the best proven bound on KL(D||D'), infinite if none.
  std::vector<Claimed<Nats>> beside;
  Eigen::Index bare = 0;  ///< coordinates with less than kBareShare of the isotropic variance
};

/// Below this share of the isotropic variance a direction counts as nearly bare.
inline constexpr double kBareShare = 1e-2;

/// Throws   as iterate_design.
[[nodiscard]] IterationAnswer iterate(const Iteration& iteration, const DesignQuestion& question,
                                      Observer& observer);

/// How much smaller a KL became; 1 where it did not, also if both are 0 or infinite.
[[nodiscard]] double gain(double before, double after);

}  // namespace sfumato
