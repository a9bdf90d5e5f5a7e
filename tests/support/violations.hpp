#pragma once

#include <cmath>

namespace sfumato {

/// The largest count that Bin(trials, rate) exceeds with probability `false_alarm` at most: a test that
/// fails above it is wrong that often when the rate is as claimed.
inline int violations_allowed(int trials, double rate, double false_alarm) {
  double tail = 0.0;
  for (int k = trials; k >= 0; --k) {
    tail +=
        std::exp(std::lgamma(trials + 1.0) - std::lgamma(k + 1.0) - std::lgamma(trials - k + 1.0) +
                 k * std::log(rate) + (trials - k) * std::log1p(-rate));
    if (tail > false_alarm) return k;
  }
  return 0;
}

}  // namespace sfumato
