#include "sfumato/divergence/step_kl_block.hpp"

#include <bit>
#include <cstdint>
#include <limits>

#include "sfumato/core/vector_clones.hpp"

namespace sfumato {
// Straight-line arithmetic. With s/s' = 2^k m, 1/sqrt(2) <= m < sqrt(2), f = m - 1, q = f - log(1 + f):
//
//   psi = q  for k = 0,   (excess - f) + q - k log 2  else
//
// where q = f^2/2 - t (f^2/2 + R), t = f / (2 + f), R the series of 2 atanh(t)/t - 2 in the
// polynomial of FreeBSD's log (e_log.c, error below 2^-58). For k = 0, f is the excess itself, so that
// nothing cancels.
SFUMATO_VECTOR_CLONES
void regular_step_kl(const double* shift, const double* s, const double* s_prime, std::size_t count,
                     double* kl) {
  constexpr double kL1 = 6.666666666666735130e-01, kL2 = 3.999999999940941908e-01,
                   kL3 = 2.857142874366239149e-01, kL4 = 2.222219843214978396e-01,
                   kL5 = 1.818357216161805012e-01, kL6 = 1.531383769920937332e-01,
                   kL7 = 1.479819860511658591e-01;
  constexpr double kLog2 = 0.693147180559945309417;
  constexpr std::uint64_t kHalfRoot = 0x3fe6a09e667f3bcdu;  // bits of 1/sqrt(2)
  constexpr std::uint64_t kOne = 0x3ff0000000000000u, kMantissa = 0x000fffffffffffffu;
  constexpr std::uint64_t kTwo52 = 0x4330000000000000u;  // bits of 2^52
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t i = 0; i < count; ++i) {
    const double ratio = s[i] / s_prime[i];
    const double excess = (s[i] - s_prime[i]) / s_prime[i];
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(ratio) + (kOne - kHalfRoot);
    const double k = std::bit_cast<double>((bits >> 52) | kTwo52) - (0x1p52 + 1023.0);
    const double m = std::bit_cast<double>((bits & kMantissa) + kHalfRoot);
    const double f = k == 0.0 ? excess : m - 1.0;
    const double half = 0.5 * f * f, t = f / (2.0 + f), z = t * t;
    const double series =
        z * (kL1 + z * (kL2 + z * (kL3 + z * (kL4 + z * (kL5 + z * (kL6 + z * kL7))))));
    const double q = half - t * (half + series);
    const double psi = k == 0.0 ? q : (excess - f) + q - k * kLog2;
    const double value = 0.5 * (psi + shift[i] * (shift[i] / s_prime[i]));
    // Bitwise &, so that there is no branch to keep the loop from being vectorised.
    const bool regular = (s_prime[i] > 0.0) & (ratio >= 0x1p-1000) & (ratio <= 0x1p1000);
    kl[i] = regular ? value : kNan;
  }
}

double sum_of(const double* values, std::size_t count) {
  double lanes[8] = {};
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    for (std::size_t lane = 0; lane < 8; ++lane) lanes[lane] += values[i + lane];
  }
  for (; i < count; ++i) lanes[i % 8] += values[i];
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
         ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

}  // namespace sfumato
