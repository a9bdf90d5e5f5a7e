#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sfumato/audit/one_run.hpp"

namespace sfumato {

/// What decides between canaries of equal scores. A guess may depend on scores and on chance, never on coins.
enum class Ties {
  at_random,  ///< a random order by seed; for canaries in an order that has nothing to do with their coins
  against_attacker,  ///< whatever makes most guesses wrong; for canaries that are listed by their coins
};

/// Guesses from the scores of canaries on one model: of each number in `guesses`, the half with the highest
/// scores are said to be members, the half with the lowest not (an odd one goes to the members); on the
/// others the attacker abstains.
///
/// `included[i]` tells whether canary i was trained on; it decides what is correct and, against the
/// attacker, ties. A random order of a list in which members come first would be fixed by seed and size
/// alone: for some sizes it favours the attacker in every audit.
/// Throws   InvalidArgument if sizes differ, there are no canaries, a score is NaN, or more are to be
///          guessed than there are.
[[nodiscard]] std::vector<CanaryGuesses> guess_canaries(std::span<const double> scores,
                                                        std::span<const std::uint8_t> included,
                                                        std::span<const std::uint64_t> guesses,
                                                        Ties ties, std::uint64_t seed = 0);

}  // namespace sfumato
