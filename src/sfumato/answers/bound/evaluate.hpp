#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "sfumato/answers/bound/problem.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/divergence/pair_bounds.hpp"
#include "sfumato/privacy/risk.hpp"

namespace sfumato {

/// What a grid says about an attacker: estimates.
struct GridRisk {
  Claimed<double> advantage;
  std::array<std::vector<Claimed<double>>, 2> delta;  ///< forward and reverse, one for each epsilon
};

/// Everything that is known about a pair at one time.
struct BoundsAtTime {
  double time;
  std::vector<PairBound> methods;  ///< exact, estimated, proven, printed: in the order of the table
  std::optional<Risk> exact;       ///< where the laws are normal
  std::optional<Risk> proven;      ///< from the best proven bounds
  std::optional<GridRisk> grid;
};

/// The smallest proven number of one direction, the exact value aside; infinite when there is none.
[[nodiscard]] Claimed<Nats> best_proven(const std::vector<PairBound>& methods,
                                        KlBound PairBound::*direction);

/// Whether the grid finds a KL above the bounds, by more than grids err: a bound is wrong, or the grid.
[[nodiscard]] bool grid_is_above(const BoundsAtTime& at);

/// Runs every method that applies; those that do not say why. When the observer asks to stop, what
/// was not reached is left out.
///
/// Throws   NumericalFailure if a grid that the file itself describes does not hold the laws.
[[nodiscard]] std::vector<BoundsAtTime> evaluate_bounds(const BoundProblem& problem,
                                                        Observer& observer);

}  // namespace sfumato
