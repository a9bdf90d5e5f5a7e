#pragma once

#include <cstddef>

namespace sfumato {

/// Points of a distribution before it is tilted, each in an array of its own: the weight w, its exponent a + s L, the loss L, and how many roundings
/// the logarithm of the weight takes.
struct TiltPoints {
  const double* weight;
  const double* offset;  ///< a
  const double* loss;    ///< L
  const double* roundings;
  std::size_t count;
};

/// Over the points, x = a + s L:
struct TiltSums {
  double change;    ///< sum w (e^x - 1)
  double mass;      ///< sum w e^x
  double first;     ///< sum w e^x L
  double second;    ///< sum w e^x L^2
  double rounding;  ///< sum w [ roundings min(|x|, 1) max(e^x, 1) + 3 |x| e^x ]: of Spec §18.4
};

/// For |x| <= 700, one pass, eight points at a time; e^x - 1 is off by less than 2 roundings. The same bits on every machine.
[[nodiscard]] TiltSums tilt_sums(const TiltPoints& points, double s);

}  // namespace sfumato
