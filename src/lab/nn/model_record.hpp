#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sfumato/divergence/step_kl.hpp"

namespace sfumato::lab {

/// What one training run has revealed so far, its path KL: the sum over its steps of the exact KL between the two
/// worlds' transition distributions at the point where the run is (step_kl_by_coordinate, Spec §8.1).
///
/// One draw of the random variable whose mean is the path KL (Spec §8.2), along the D chain for
/// KL(p||q) and along the D' chain for the other direction; a bound on nothing by itself.
/// Plain numbers, so that a run can be saved and go on.
struct PathKlSum {
  double nats = 0.0;
  std::uint64_t steps = 0;           ///< that told the worlds apart; the others add nothing
  std::uint64_t infinite_steps = 0;  ///< of these, how many are infinite

  /// The first step that is infinite, and the coordinates that make it so.
  struct Infinite {
    std::uint64_t step = 0;
    std::size_t count = 0;
    std::vector<std::size_t> first_coordinates;  ///< as StepKl::first_infinite
  };
  std::optional<Infinite> first_infinite;

  /// Adds training step number `number`.
  void add(const StepKl& step, std::uint64_t number);
};

struct LoggedLoss {
  std::uint64_t step;
  double loss;  ///< mean over the rows of the step's batch that the model's world holds
};

/// What is known of one model of a group.
struct ModelRecord {
  std::size_t policy = 0, world = 0;
  std::optional<std::uint64_t> diverged_at;  ///< the step at which a loss was first seen not finite
  std::vector<LoggedLoss> losses;

  /// Steps between this world and the other, both from this model's weights: along D for KL(D || D'),
  /// along D' for the other direction.
  PathKlSum path_kl;

  /// Records, counted once for each step they were in, whose clipped gradient counted nothing because it was not finite.
  std::uint64_t zeroed_records = 0;

  /// For each canary: what the steps moved along it beyond what the other records made them, each coordinate weighed by gradient_canary():
  /// the best score of an attacker who knows everything but the record (Spec §25.2).
  std::vector<double> canary_scores = {};

  /// Sum over steps of (g_i - g'_i)^2, for the design of noise; empty unless asked for.
  std::vector<double> squared_differences;
};

}  // namespace sfumato::lab
