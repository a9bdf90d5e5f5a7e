#pragma once

#include <cstdint>

#include "sfumato/core/claim.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/units.hpp"

namespace sfumato {

/// Outcome of guessing, from one trained model, which canaries it was trained on. Each canary was
/// included by its own fair coin; the attacker may abstain on some [SteinkeNasrJagielski2023].
struct CanaryGuesses {
  std::uint64_t canaries;  ///< m, guessed or not
  std::uint64_t guesses;   ///< r <= m; how many, and on which, is settled before the coins are seen
  std::uint64_t correct;   ///< v <= r
};

/// Throws   InvalidArgument unless correct <= guesses <= canaries and canaries >= 1.
void require_guesses(const CanaryGuesses& guesses, const Where& where = Where::here());

/// Probability that an (epsilon, delta)-DP mechanism lets anybody guess so well, or a bound on it.
///
///   Spec §11.4 (1):  P[B >= v] + 2 m delta max_i P[v > B >= v - i] / i,   B ~ Bin(r, 1/(1 + e^-eps))
///
/// Time proportional to the distance of v from its mean, r at most. Rounded up; 1 for v = 0.
/// Where v is above the mode of B it falls with v.
[[nodiscard]] double one_run_p_value(const CanaryGuesses& guesses, Epsilon epsilon, Delta delta);

/// Largest epsilon found with a p-value below 1 - confidence (Spec §11.4 (2)); 0 if there is none.
[[nodiscard]] Claimed<Epsilon> one_run_epsilon_lower_bound(const CanaryGuesses& guesses,
                                                           Delta delta, double confidence);

}  // namespace sfumato
