#pragma once

#include <array>
#include <vector>

#include "sfumato/core/claim.hpp"
#include "sfumato/core/units.hpp"
#include "sfumato/risk/risk.hpp"

namespace sfumato::lab {

/// The path KLs of the runs of one pair, in nats: what the steps of a run reveal, summed, along D and along D'.
using PathKlRuns = std::array<std::vector<double>, 2>;

/// What the path KLs of runs say about the final weights: the mean along D estimates the KL of the
/// paths, which is an upper bound on KL(D||D') of the weights, and likewise along D' (Spec §8.2); both
/// together give delta(eps) by the sharp conversion (Spec §4.2). Of several pairs the worst counts, as
/// it does for an audit. (Runs that drew their pairs at random are one list: KL is jointly convex, so
/// that the mean over pairs covers a test on the mixture.) Estimates of upper bounds, no bounds.
class PathKlRisk {
 public:
  /// Throws   InvalidArgument if there is no pair, or one without runs in a world.
  explicit PathKlRisk(const std::vector<PathKlRuns>& pairs);

  [[nodiscard]] Claimed<Epsilon> epsilon(Delta delta) const;
  [[nodiscard]] Claimed<Delta> delta(Epsilon epsilon) const;

 private:
  std::vector<Risk> pairs_;
};

}  // namespace sfumato::lab
