#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "sfumato/core/vector_clones.hpp"

/// e^x - 1, sine and cosine of eight numbers at once, for the sums of the contour. Inlined into functions with SFUMATO_VECTOR_CLONES, so that each
/// clone has them in its own registers; arguments are references, because a function that takes or returns an Eight has no one calling
/// convention. The operations and their order are the same in every clone, hence the bits.
namespace sfumato::vector_elementary {

constexpr std::size_t kLanes = 8;
using Eight = double __attribute__((vector_size(kLanes * sizeof(double))));
using EightBits = std::int64_t __attribute__((vector_size(kLanes * sizeof(double))));

constexpr double kToWhole =
    0x1.8p52;  // added, a whole number is in the low bits of the sum; subtracted again it is rounded to

/// change = e^x - 1 and whole = e^x, for |x| at most 700.
__attribute__((always_inline)) inline void exponential(const Eight& x, Eight& change,
                                                       Eight& whole) {
  // log 2 in two parts, of which the first has 42 bits: its product with a whole number below 2^11 is exact.
  constexpr double kLn2High = 0x1.62e42fefa38p-1, kLn2Low = 0x1.ef35793c7673p-45;
  constexpr double kInverseLn2 = 0x1.71547652b82fep+0;
  // e^x - 1 = 2^n (e^r - 1) + (2^n - 1) with |r| <= log(2)/2, by Taylor's series to r^14.
  const Eight shifted = x * kInverseLn2 + kToWhole;
  const Eight n = shifted - kToWhole;
  const Eight r = (x - n * kLn2High) - n * kLn2Low;
  EightBits bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  bits = (bits + 1023) << 52;
  Eight power;
  std::memcpy(&power, &bits, sizeof power);
  Eight series = 1.0 / 1307674368000.0 * r + 1.0 / 87178291200.0;
  series = series * r + 1.0 / 6227020800.0;
  series = series * r + 1.0 / 479001600.0;
  series = series * r + 1.0 / 39916800.0;
  series = series * r + 1.0 / 3628800.0;
  series = series * r + 1.0 / 362880.0;
  series = series * r + 1.0 / 40320.0;
  series = series * r + 1.0 / 5040.0;
  series = series * r + 1.0 / 720.0;
  series = series * r + 1.0 / 120.0;
  series = series * r + 1.0 / 24.0;
  series = series * r + 1.0 / 6.0;
  series = series * r + 0.5;
  const Eight small = r + r * r * series;
  // The large parts are added last: where e^x is near 1 nothing of `small` is lost.
  change = power * small + (power - 1.0);
  whole = power * small + power;
}

/// Sine and cosine of `half` less its nearest multiple of pi, for what has the period pi: sin^2 and sin cos. By those of a quarter of the angle,
/// which is in [-pi/4, pi/4]. The reduction is exact for |half| below 1e6, and beyond off by the rounding of `half` itself.
__attribute__((always_inline)) inline void sine_and_cosine(const Eight& half, Eight& sine,
                                                           Eight& cosine) {
  // pi in three parts of which the first two have 33 bits: their products with whole numbers below 2^20 are exact.
  constexpr double kPi1 = 0x1.921fb544p+1, kPi2 = 0x1.0b4611a6p-33, kPi3 = 0x1.3198a2e037073p-68;
  constexpr double kInversePi = 0x1.45f306dc9c883p-2;
  const Eight n = (half * kInversePi + kToWhole) - kToWhole;
  const Eight v = 0.5 * (((half - n * kPi1) - n * kPi2) - n * kPi3);
  const Eight z = v * v;
  // Taylor's series on [-pi/4, pi/4]: what is left out is below 2^-58 of the value.
  Eight s = 1.0 / 355687428096000.0 * z - 1.0 / 1307674368000.0;
  s = s * z + 1.0 / 6227020800.0;
  s = s * z - 1.0 / 39916800.0;
  s = s * z + 1.0 / 362880.0;
  s = s * z - 1.0 / 5040.0;
  s = s * z + 1.0 / 120.0;
  s = s * z - 1.0 / 6.0;
  const Eight sine_v = v + v * z * s;
  Eight c = 1.0 / 20922789888000.0 * z - 1.0 / 87178291200.0;
  c = c * z + 1.0 / 479001600.0;
  c = c * z - 1.0 / 3628800.0;
  c = c * z + 1.0 / 40320.0;
  c = c * z - 1.0 / 720.0;
  c = c * z + 1.0 / 24.0;
  const Eight cosine_v = 1.0 - (0.5 * z - z * z * c);
  sine = 2.0 * sine_v * cosine_v;
  cosine = 1.0 - 2.0 * sine_v * sine_v;
}

/// The sum of the lanes, in their order.
inline double total(const Eight& sums) {
  double all = 0.0;
  for (std::size_t i = 0; i < kLanes; ++i) all += sums[i];
  return all;
}

}  // namespace sfumato::vector_elementary
