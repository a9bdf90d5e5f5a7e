#include "sfumato/math/complex_gamma.hpp"

#include <cmath>
#include <numbers>

namespace sfumato {
namespace {

using Wide = std::complex<long double>;

/// Stirling's series is taken from here on: with eight terms it is off by less than 1e-19 in the right half plane.
constexpr long double kFar = 24.0L;

// B_2k / (2k (2k - 1)).
constexpr long double kStirling[] = {1.0L / 12,    -1.0L / 360,       1.0L / 1260,
                                     -1.0L / 1680, 1.0L / 1188,       -691.0L / 360360,
                                     1.0L / 156,   -3617.0L / 122400, 43867.0L / 244188};

}  // namespace

std::complex<double> log_gamma(std::complex<double> z) {
  Wide w(z.real(), z.imag());
  // Gamma(z) = Gamma(z + j) / (z (z + 1) ... (z + j - 1)); arguments are added one by one, so that the branch stays.
  long double log_modulus = 0.0L, argument = 0.0L;
  while (std::abs(w) < kFar) {
    log_modulus += std::log(std::abs(w));
    argument += std::arg(w);
    w += 1.0L;
  }
  const Wide inverse = 1.0L / w, square = inverse * inverse;
  Wide series = 0.0L;
  for (auto k = std::size(kStirling); k-- > 0;) series = series * square + kStirling[k];
  const long double half_log_two_pi = 0.5L * std::log(2.0L * std::numbers::pi_v<long double>);
  const Wide log = (w - 0.5L) * std::log(w) - w + half_log_two_pi + series * inverse;
  return {static_cast<double>(log.real() - log_modulus),
          static_cast<double>(log.imag() - argument)};
}

}  // namespace sfumato
