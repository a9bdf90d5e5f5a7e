#pragma once

#include <vector>

#include "sfumato/bound/bound_answer.hpp"

namespace sfumato {

/// What simulation and grids say, one entry per time.
struct Estimates {
  std::vector<std::vector<PairBound>> methods;
  std::vector<GridRisk> grid;  ///< fewer, or none, where the grid was not used or was stopped
};

/// Fokker-Planck in one or two dimensions (Spec §12.3, §12.4); path integrals by simulation where
/// both noises are the same (§12.1); scores of particles where they are not, up to three dimensions
/// and only where the grid has nothing (§12.2).
///
/// Assumes  finite ascending times.
/// Throws   as answer().
[[nodiscard]] Estimates estimate_pair(const BoundQuestion& question,
                                      const std::vector<double>& times, Observer& observer);

}  // namespace sfumato
