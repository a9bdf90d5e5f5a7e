#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "lab/nn/path_kl_sum.hpp"

namespace sfumato::lab {

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
