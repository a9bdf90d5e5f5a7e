#pragma once

#include <complex>
#include <cstddef>
#include <vector>

namespace sfumato {

/// The discrete Fourier transform of a fixed length N = 2^n, by radix 2, with a proven bound of its rounding error.
class Fourier {
 public:
  /// `length` is a power of two.
  explicit Fourier(std::size_t length);

  [[nodiscard]] std::size_t length() const { return length_; }

  /// y_w = sum_j x_j e^{+ 2 pi i w j / N}, in place.
  void transform(std::vector<std::complex<double>>& values) const;

  /// ||computed - exact||_2 <= this times ||exact||_2, for transform() [Higham2002, Thm 24.2]; the twiddle factors are off by
  /// at most 8 roundings each, which holds if sin and cos err by at most 2 ulp.
  [[nodiscard]] double relative_error() const;

  /// max_w |computed - exact| <= this times sum_j |x_j|: every stage adds what it adds with roundings of its own size.
  [[nodiscard]] double sup_error() const;

 private:
  std::size_t length_;
  std::vector<double> cosine_,
      sine_;  ///< of pi j / half for j < half, from half = 1 on, at half + j
};

}  // namespace sfumato
