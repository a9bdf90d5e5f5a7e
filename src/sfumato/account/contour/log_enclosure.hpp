#pragma once

#include <cmath>

#include "sfumato/core/infinity.hpp"

namespace sfumato {

/// A probability between two ends, as logarithms: it may be e^-10000.
struct LogEnclosure {
  double log_lo;  ///< -inf where nothing but 0 is known
  double log_hi;
};

/// The intersection of two enclosures of the same number.
/// Throws   InternalError if they exclude each other.
[[nodiscard]] LogEnclosure intersected(const LogEnclosure& a, const LogEnclosure& b);

/// A probability that was computed to a relative error.
[[nodiscard]] inline LogEnclosure log_around(double value, double relative) {
  if (!(value > 0.0)) return {-kInf, -kInf};
  return {std::log(value) - relative, std::log(value) + relative};
}

}  // namespace sfumato
