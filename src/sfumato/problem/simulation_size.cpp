#include "sfumato/problem/simulation_size.hpp"

#include <algorithm>
#include <cmath>

namespace sfumato {

SimulationSize simulation_size(const SdeProblem& problem) {
  double last = 0.0;
  for (const double time : problem.times) {
    if (std::isfinite(time)) last = std::max(last, time);
  }
  SimulationSize size{20000, 0.01};
  if (last > 0.0) size.step = std::min(size.step, last / 1000.0);
  if (problem.pair.constants.value) {
    const PairConstants& known = *problem.pair.constants.value;
    size.step =
        std::min(size.step, 0.5 / std::max(known.forward.f.lipschitz, known.reverse.f.lipschitz));
  }
  if (problem.plan.step) size.step = *problem.plan.step;
  // Two drifts, three steps for a pair of chains, two directions.
  const double per_path = 12.0 * problem.work * std::max(1.0, last / size.step);
  size.paths = static_cast<std::uint64_t>(std::clamp(1e11 / per_path, 200.0, 20000.0));
  if (problem.plan.paths > 0) size.paths = problem.plan.paths;
  return size;
}

}  // namespace sfumato
