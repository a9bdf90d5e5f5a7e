#include "sfumato/divergence/step_kl_block.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "sfumato/core/vector_clones.hpp"
#include "sfumato/math/special.hpp"

namespace sfumato {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

/// One coordinate with all its edges.
double coordinate_kl(double shift, double s, double s_prime) {
  if (s == 0.0 && s_prime == 0.0) return shift == 0.0 ? 0.0 : kInf;
  if (s == 0.0 || s_prime == 0.0) return kInf;
  const double excess = (s - s_prime) / s_prime;
  // psi(r) = (r - 1) - log r; for small r the excess has lost the digits of r, and s / s' may be 0.
  const double psi =
      excess < -0.5 ? excess - (std::log(s) - std::log(s_prime)) : psi_of_excess(excess);
  return 0.5 * (psi + shift * (shift / s_prime));
}

/// The same by straight-line arithmetic, right where 2^-1000 <= s / s' <= 2^1000. With s/s' = 2^k m,
/// 1/sqrt(2) <= m < sqrt(2), f = m - 1 and q = f - log(1 + f):
///
///   psi = q  for k = 0,   (excess - f) + q - k log 2  else
///
/// where q = f^2/2 - t (f^2/2 + R), t = f / (2 + f), R the series of 2 atanh(t)/t - 2 in the
/// polynomial of FreeBSD's log (e_log.c, error below 2^-58). For k = 0, f is the excess itself, so that
/// nothing cancels.
SFUMATO_VECTOR_CLONES
void regular_kl(const double* shift, const double* s, const double* s_prime, std::size_t count,
                double* kl) {
  constexpr double kL1 = 6.666666666666735130e-01, kL2 = 3.999999999940941908e-01,
                   kL3 = 2.857142874366239149e-01, kL4 = 2.222219843214978396e-01,
                   kL5 = 1.818357216161805012e-01, kL6 = 1.531383769920937332e-01,
                   kL7 = 1.479819860511658591e-01;
  constexpr double kLog2 = 0.693147180559945309417;
  constexpr std::uint64_t kHalfRoot = 0x3fe6a09e667f3bcdu;  // bits of 1/sqrt(2)
  constexpr std::uint64_t kOne = 0x3ff0000000000000u, kMantissa = 0x000fffffffffffffu;
  constexpr std::uint64_t kTwo52 = 0x4330000000000000u;  // bits of 2^52
  for (std::size_t i = 0; i < count; ++i) {
    const double excess = (s[i] - s_prime[i]) / s_prime[i];
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(s[i] / s_prime[i]) + (kOne - kHalfRoot);
    const double k = std::bit_cast<double>((bits >> 52) | kTwo52) - (0x1p52 + 1023.0);
    const double m = std::bit_cast<double>((bits & kMantissa) + kHalfRoot);
    const double f = k == 0.0 ? excess : m - 1.0;
    const double half = 0.5 * f * f, t = f / (2.0 + f), z = t * t;
    const double series =
        z * (kL1 + z * (kL2 + z * (kL3 + z * (kL4 + z * (kL5 + z * (kL6 + z * kL7))))));
    const double q = half - t * (half + series);
    const double psi = k == 0.0 ? q : (excess - f) + q - k * kLog2;
    kl[i] = 0.5 * (psi + shift[i] * (shift[i] / s_prime[i]));
  }
}

}  // namespace

double StepKlBlock::sum(std::size_t count) {
  regular_kl(shift, variance, variance_prime, count, kl);
  infinite = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double ratio = variance[i] / variance_prime[i];
    if (!(ratio >= 0x1p-1000 && ratio <= 0x1p1000)) {
      kl[i] = coordinate_kl(shift[i], variance[i], variance_prime[i]);
    }
    if (kl[i] == kInf) ++infinite;
  }
  double lanes[4] = {};
  for (std::size_t i = 0; i < count; ++i) lanes[i % 4] += kl[i];
  return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

}  // namespace sfumato
