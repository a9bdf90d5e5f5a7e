#pragma once

#include <array>
#include <vector>

#include "sfumato/answers/quadratic/chain_bounds.hpp"
#include "sfumato/answers/quadratic/question.hpp"
#include "sfumato/core/observer.hpp"

namespace sfumato {

/// A point of the curves over time or steps, forward and reverse.
struct QuadraticPoint {
  double when;
  std::array<Claimed<Nats>, 2> kl;
  std::array<Claimed<Delta>, 2> delta;  ///< at the first epsilon
};

struct QuadraticAnswer {
  QuadraticQuestion question;
  TrainingDifferences differences;
  std::vector<Observation> observations;  ///< one per time or number of steps, or of the release
  /// What theorems say beside the exact KL, where the question is about a chain; one per observation.
  std::vector<std::array<ChainBounds, 2>> chain_bounds = {};
  std::vector<QuadraticPoint> curve = {};  ///< over time or steps, for figures; none of a release
  bool stopped = false;
};

/// Tells `observer` how far it is; when asked to stop it leaves out what it has not reached.
///
/// Throws   InvalidArgument as require_quadratic(), and for a release of a loss without minimiser.
[[nodiscard]] QuadraticAnswer answer(const QuadraticQuestion& question, Observer& observer);

}  // namespace sfumato
