#include "sfumato/privacy/accounting/fourier.hpp"

#include <bit>
#include <cmath>
#include <numbers>
#include <utility>

#include "sfumato/core/error.hpp"

namespace sfumato {

using Complex = std::complex<double>;

Fourier::Fourier(std::size_t length) : length_(length), roots_(length / 2) {
  if (!std::has_single_bit(length)) throw InternalError("a length that is not a power of two");
  const double turn = 2.0 * std::numbers::pi / static_cast<double>(length);
  for (std::size_t j = 0; j < roots_.size(); ++j) {
    const double angle = turn * static_cast<double>(j);
    roots_[j] = {std::cos(angle), std::sin(angle)};
  }
}

void Fourier::transform(std::vector<Complex>& values) const {
  // Decimation in time: the order of the bits reversed, then log2 N rounds of butterflies.
  for (std::size_t i = 1, j = 0; i < length_; ++i) {
    std::size_t bit = length_ >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(values[i], values[j]);
  }
  for (std::size_t half = 1; half < length_; half *= 2) {
    const std::size_t stride = length_ / (2 * half);
    for (std::size_t start = 0; start < length_; start += 2 * half) {
      for (std::size_t j = 0; j < half; ++j) {
        const Complex root = roots_[j * stride];
        const Complex odd = values[start + half + j];
        // Written out: operator* of std::complex looks for infinities first.
        const Complex turned(root.real() * odd.real() - root.imag() * odd.imag(),
                             root.real() * odd.imag() + root.imag() * odd.real());
        const Complex even = values[start + j];
        values[start + j] = even + turned;
        values[start + half + j] = even - turned;
      }
    }
  }
}

double Fourier::relative_error() const {
  // eta = mu + gamma_4 (sqrt 2 + mu) with mu = 8 u is less than 14 u; log2 N of them, compounded.
  const double rounds = static_cast<double>(std::bit_width(length_) - 1);
  return 16.0 * 0x1p-53 * rounds;
}

}  // namespace sfumato
