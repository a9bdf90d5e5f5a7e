#pragma once

#include <cstdint>
#include <span>

#include "sfumato/audit/one_run.hpp"

namespace sfumato {

/// Guesses from the scores of canaries on one model: of `guesses`, the half with the highest scores are
/// said to be members, the half with the lowest not (an odd one goes to the members); on the others
/// the attacker abstains. Equal scores are put in a random order, by `seed`: the order in which the
/// canaries are given may tell their coins.
///
/// `included[i]` tells whether canary i was trained on; it decides nothing but what is correct.
/// Throws   InvalidArgument if sizes differ, there are no canaries, a score is NaN, or more are to be
///          guessed than there are.
[[nodiscard]] CanaryGuesses guess_canaries(std::span<const double> scores,
                                           std::span<const std::uint8_t> included,
                                           std::uint64_t guesses, std::uint64_t seed = 0);

}  // namespace sfumato
