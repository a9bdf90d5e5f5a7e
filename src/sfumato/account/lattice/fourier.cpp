#include "sfumato/account/lattice/fourier.hpp"

#include <bit>
#include <cmath>
#include <numbers>

#include "sfumato/account/contour/rounding_unit.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/vector_clones.hpp"

namespace sfumato {

namespace {

/// One stage: blocks of twice `half` numbers, whose halves are added and subtracted after the second was rotated.
SFUMATO_VECTOR_CLONES void butterflies(double* re, double* im, const double* cosine,
                                       const double* sine, std::size_t half, std::size_t length) {
  for (std::size_t start = 0; start < length; start += 2 * half) {
    double* __restrict even_re = re + start;
    double* __restrict even_im = im + start;
    double* __restrict odd_re = even_re + half;
    double* __restrict odd_im = even_im + half;
    for (std::size_t j = 0; j < half; ++j) {
      const double rotated_re = cosine[j] * odd_re[j] - sine[j] * odd_im[j];
      const double rotated_im = cosine[j] * odd_im[j] + sine[j] * odd_re[j];
      odd_re[j] = even_re[j] - rotated_re;
      odd_im[j] = even_im[j] - rotated_im;
      even_re[j] += rotated_re;
      even_im[j] += rotated_im;
    }
  }
}

}  // namespace

Fourier::Fourier(std::size_t length) : length_(length), cosine_(length), sine_(length) {
  if (!std::has_single_bit(length)) throw InternalError("a length that is not a power of two");
  if (length < 2) return;
  const std::size_t last = length / 2;
  const double turn = std::numbers::pi / static_cast<double>(last);
  for (std::size_t j = 0; j < last; ++j) {
    const double angle = turn * static_cast<double>(j);
    cosine_[last + j] = std::cos(angle);
    sine_[last + j] = std::sin(angle);
  }
  for (std::size_t half = last / 2; half > 0; half /= 2) {
    for (std::size_t j = 0; j < half; ++j) {
      cosine_[half + j] = cosine_[2 * half + 2 * j];
      sine_[half + j] = sine_[2 * half + 2 * j];
    }
  }
}

void Fourier::transform(std::vector<Complex>& values) const {
  // Decimation in time: the order of the bits reversed, then log2 N rounds of butterflies, on real and imaginary parts apart.
  std::vector<double> re(length_), im(length_);
  const Complex* from = values.data();
  for (std::size_t i = 0, j = 0; i < length_; ++i) {
    re.data()[j] = from[i].real();
    im.data()[j] = from[i].imag();
    std::size_t bit = length_ >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
  }
  for (std::size_t half = 1; half < length_; half *= 2) {
    butterflies(re.data(), im.data(), cosine_.data() + half, sine_.data() + half, half, length_);
  }
  Complex* to = values.data();
  for (std::size_t i = 0; i < length_; ++i) to[i] = {re.data()[i], im.data()[i]};
}

double Fourier::sup_error() const {
  // A butterfly multiplies what it adds by 1 + x with |x| <= 8 u (twiddle factor) + sqrt(8) u (product) + sqrt(2) u (sum).
  const double rounds = static_cast<double>(std::bit_width(length_) - 1);
  return 14.0 * 0x1p-53 * rounds;
}

double Fourier::relative_error() const {
  // eta = mu + gamma_4 (sqrt 2 + mu) with mu = 8 u is less than 14 u; log2 N of them, compounded.
  const double rounds = static_cast<double>(std::bit_width(length_) - 1);
  return 16.0 * 0x1p-53 * rounds;
}

}  // namespace sfumato
