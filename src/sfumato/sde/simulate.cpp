#include "sfumato/sde/simulate.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "sfumato/core/error.hpp"
#include "sfumato/core/parallel.hpp"

namespace sfumato {

using Eigen::Index;

Simulation simulate(const Diffusion& diffusion, const GaussianDistribution& start,
                    const TimeGrid& grid, const SimulateOptions& options, Observer& observer) {
  const std::vector<TimeSegment> plan = segments(grid);
  const EulerMaruyama chain(diffusion, start, options.random);
  if (options.paths == 0) throw InvalidArgument("paths = 0", "Ask for one path or more");

  Simulation result;
  const auto rows = static_cast<Index>(options.paths);
  for (const double time : grid.times) {
    result.clouds.push_back({time, Points(rows, chain.dimension())});
  }
  std::mutex mutex;
  // Normals are read by (path, step): the cut into blocks and their order change no bit.
  const auto run_block = [&](std::uint64_t first, std::uint64_t last) {
    PathBlock block;
    const auto row = static_cast<Index>(first);
    const auto count = static_cast<Index>(last - first);
    chain.start(first, count, block);
    for (std::size_t s = 0; s < plan.size(); ++s) {
      const TimeSegment& segment = plan[s];
      const double scale = std::sqrt(segment.step);
      for (std::uint64_t k = 0; k < segment.steps; ++k) {
        const double time = segment.start + static_cast<double>(k) * segment.step;
        throw_if_stopped(observer);
        chain.evaluate_drift(time, block);
        chain.draw(segment.first_step + k, block);
        chain.advance(time, segment.step, scale, block);
      }
      result.clouds[s].points.middleRows(row, count) = block.x;
    }
    const std::scoped_lock lock(mutex);
    for (const Index j : block.diverged) {
      result.diverged.push_back(first + static_cast<std::uint64_t>(j));
    }
  };
  result.paths = parallel_blocks(
      {"paths", options.paths, static_cast<std::uint64_t>(chain.block_size()), options.threads},
      observer, run_block);
  std::erase_if(result.diverged, [&](std::uint64_t path) { return path >= result.paths; });
  std::sort(result.diverged.begin(), result.diverged.end());
  // Stopped early: blocks are whole from the first path on, so what is there is a smaller simulation.
  if (result.paths < options.paths) {
    for (Cloud& cloud : result.clouds) {
      cloud.points.conservativeResize(static_cast<Index>(result.paths), Eigen::NoChange);
    }
  }
  return result;
}

}  // namespace sfumato
