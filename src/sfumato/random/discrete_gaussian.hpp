#pragma once

#include <cstdint>

#include "sfumato/random/release_bits.hpp"

namespace sfumato {

/// The largest deviation of draw_discrete_gaussian(): beyond it, 128 bits would not hold its fractions.
inline constexpr std::int64_t kLargestDeviation = std::int64_t{1} << 27;

/// An integer k with probability exactly  e^{-k^2 / 2 n^2} / sum_j e^{-j^2 / 2 n^2}  (Spec §24.4): integer arithmetic alone, so that no
/// rounding tells what the noise was added to. The time it takes depends on the integer drawn.
/// Throws   InvalidArgument unless n is in [1, kLargestDeviation]; NumericalFailure beyond 256 deviations, which has a probability below e^-255.
[[nodiscard]] std::int64_t draw_discrete_gaussian(std::int64_t n, ReleaseBits& bits);

/// The probability of k under parameter n > 0, any real (Spec §24.3).
[[nodiscard]] double discrete_gaussian_pmf(double n, std::int64_t k);

}  // namespace sfumato
