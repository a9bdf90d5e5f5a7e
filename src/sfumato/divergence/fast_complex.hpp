#pragma once

#include <cmath>
#include <complex>

namespace sfumato::fast_complex {

/// Products and quotients without the NaN and overflow rescue of std::complex, which costs more than
/// the arithmetic itself in the contour integrals of Spec §3.3. A result that is not finite is
/// treated as zero there.

inline std::complex<double> times(std::complex<double> x, std::complex<double> y) {
  return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
}

inline double squared_modulus(std::complex<double> x) {
  return x.real() * x.real() + x.imag() * x.imag();
}

inline std::complex<double> inverse(std::complex<double> x) {
  const double scale = 1.0 / squared_modulus(x);
  return {x.real() * scale, -x.imag() * scale};
}

/// Principal square root.
inline std::complex<double> root(std::complex<double> x) {
  const double modulus = std::sqrt(squared_modulus(x));
  if (x.real() >= 0.0) {
    const double re = std::sqrt(0.5 * (modulus + x.real()));
    return {re, re > 0.0 ? 0.5 * x.imag() / re : 0.0};
  }
  const double im = std::copysign(std::sqrt(0.5 * (modulus - x.real())), x.imag());
  return {0.5 * x.imag() / im, im};
}

inline std::complex<double> exponential(std::complex<double> x) {
  const double modulus = std::exp(x.real());
  return {modulus * std::cos(x.imag()), modulus * std::sin(x.imag())};
}

}  // namespace sfumato::fast_complex
