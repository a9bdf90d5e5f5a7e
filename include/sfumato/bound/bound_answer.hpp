#pragma once

#include <array>
#include <optional>
#include <vector>

#include "sfumato/bound/bound_question.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/core/verdict.hpp"
#include "sfumato/divergence/pair_bounds.hpp"
#include "sfumato/report/document.hpp"
#include "sfumato/risk/risk.hpp"

namespace sfumato {

/// What a grid says about an attacker: estimates.
struct GridRisk {
  Claimed<double> advantage;
  std::array<std::vector<Claimed<double>>, 2> delta;  ///< forward and reverse, one for each epsilon
};

/// Everything that is known about a pair at one time.
struct BoundsAtTime {
  double time;
  std::vector<PairBound> methods;   ///< exact, estimated, proven: in the order of the table
  std::optional<Risk> exact = {};   ///< where the distributions are normal
  std::optional<Risk> proven = {};  ///< from the best proven bounds
  std::optional<GridRisk> grid = {};
};

struct BoundAnswer {
  BoundQuestion question;
  std::vector<BoundsAtTime> at;  ///< by time, ascending; fewer if stopped
  /// Of what the question assumes: violated if the grid refutes it, not_refuted if it could have; none where
  /// nothing is assumed or no grid looked; open where no method says anything at any time.
  Verdict verdict = Verdict::none;
  bool stopped = false;
};

/// Whether the method has a number, finite or not, for one of the directions.
[[nodiscard]] bool has_number(const PairBound& method);

/// Whether the grid finds a KL above the bounds, by more than grids err: a bound is wrong, or the grid.
[[nodiscard]] bool grid_is_above(const BoundsAtTime& at);

/// Runs every method that applies; those that do not say why. When the observer asks to stop, what
/// was not reached is left out.
///
/// Throws   InvalidArgument at a key whose value cannot be used; NumericalFailure if a grid that the question
///          itself describes does not hold the distributions, and as the methods.
[[nodiscard]] BoundAnswer answer(const BoundQuestion& question, Observer& observer);

/// In full: one table of methods per time, the risk that follows, a figure, and what a reader must know. In
/// brief: one table of methods over the times, the best proven bound first, in the worse direction.
[[nodiscard]] Document document_of(const BoundAnswer& answer, Detail detail);

}  // namespace sfumato
