#include "sfumato/random/discrete_gaussian.hpp"

#include <cmath>
#include <numbers>

#include "sfumato/core/check.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

/// True with probability e^{-a/b}, a <= b: how many of the coins a/b, a/2b, a/3b, ... come up in a row is even with that probability.
bool exponential_coin_below_one(Uint128 a, Uint128 b, ReleaseBits& bits) {
  bool odd = true;
  for (Uint128 k = 1; bits.coin(a, b * k); ++k) odd = !odd;
  return odd;
}

bool exponential_coin(Uint128 a, Uint128 b, ReleaseBits& bits) {
  for (; a > b; a -= b) {
    if (!exponential_coin_below_one(1, 1, bits)) return false;
  }
  return exponential_coin_below_one(a, b, bits);
}

constexpr Uint128 kFarthest = 256;  // deviations

/// |x| of a discrete Laplace variable of scale t, and its sign; nothing where the sign of 0 is negative, which would count 0 twice.
struct Candidate {
  Uint128 magnitude;
  bool negative;
};

Candidate draw_laplace(Uint128 t, ReleaseBits& bits) {
  for (;;) {
    const Uint128 rest = bits.below(t);
    if (!exponential_coin_below_one(rest, t, bits)) continue;
    Uint128 wholes = 0;
    while (exponential_coin_below_one(1, 1, bits)) {
      if (++wholes > kFarthest) {
        throw NumericalFailure("a noise value beyond 256 deviations was drawn",
                               "Its probability is below e^-255: look at the generator");
      }
    }
    const Candidate drawn{rest + t * wholes, (bits.word() & 1U) != 0};
    if (drawn.magnitude != 0 || !drawn.negative) return drawn;
  }
}

}  // namespace

std::int64_t draw_discrete_gaussian(std::int64_t n, ReleaseBits& bits) {
  if (n < 1 || n > kLargestDeviation) {
    throw InvalidArgument("the deviation of discrete noise is not in [1, 2^27]",
                          "Choose another grid");
  }
  const auto deviation = static_cast<Uint128>(n);
  const Uint128 t = deviation + 1, square = deviation * deviation;
  for (;;) {
    const Candidate drawn = draw_laplace(t, bits);
    const Uint128 at = drawn.magnitude * t;
    const Uint128 distance = at > square ? at - square : square - at;  // below 2^63
    if (!exponential_coin(distance * distance, 2 * square * t * t, bits)) continue;
    const auto magnitude = static_cast<std::int64_t>(drawn.magnitude);
    return drawn.negative ? -magnitude : magnitude;
  }
}

double discrete_gaussian_pmf(double n, std::int64_t k) {
  require_positive("n", n);
  const auto weight = [n](double j) { return std::exp(-0.5 * (j / n) * (j / n)); };
  // By Poisson summation the sum over a fine grid is the integral, up to terms below e^{-2 pi^2 n^2}.
  double total = n * std::sqrt(2.0 * std::numbers::pi);
  if (n < 4.0) {
    total = 1.0;
    for (double j = 1.0; j <= 40.0 * n + 1.0; ++j) total += 2.0 * weight(j);
  }
  return weight(static_cast<double>(k)) / total;
}

}  // namespace sfumato
