#pragma once

#include <cstddef>

namespace sfumato {

/// Points of a line in the complex plane, each number in an array of its own: a complex weight c, its modulus, the complex logarithm l of a
/// ratio, and by how many roundings of 1 the weight (relatively) and l (absolutely) are off.
struct RotatedPoints {
  const double* weight_re;
  const double* weight_im;
  const double* weight;
  const double* log_re;
  const double* log_im;
  const double* weight_error;
  const double* log_error;
  std::size_t count;
};

/// sum c (e^{pl} - 1) for the complex power p = re + i im, and what bounds its error.
struct RotatedSum {
  double re, im;
  double size;          ///< sum |c| min(|pl|, 2) max(1, |e^{pl}|)
  double weight_error;  ///< the same, each term times its weight_error
  double log_error;     ///< sum |c e^{pl}| log_error
};

/// For Re pl <= 700 and |Im pl| <= 1e12: one pass, eight points at a time. e^{pl} - 1 is off by less than 4 roundings of its size above, and by those
/// of pl, 2 of Re pl and 4 of Im pl. The same bits on every machine.
[[nodiscard]] RotatedSum rotated_sum(const RotatedPoints& points, double p_re, double p_im);

}  // namespace sfumato
