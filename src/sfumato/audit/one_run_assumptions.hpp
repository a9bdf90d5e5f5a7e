#pragma once

namespace sfumato {

/// What bounds from the guesses on one model rest on.
inline constexpr const char* kFairCoins =
    "each canary was included by an independent fair coin, and nothing else depends on the coins";
inline constexpr const char* kGuessesSettled =
    "which canaries are guessed was settled without the coins";

}  // namespace sfumato
