#include "sfumato/divergence/minimise.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sfumato {

LeastValue minimise(const std::function<double(double)>& function, double low, double high) {
  LeastValue best{low, function(low)};
  if (!(high > low)) return best;
  const auto probe = [&](double x) {
    const double value = function(x);
    if (value < best.value) best = {x, value};
    return value;
  };
  constexpr int kIntervals = 8;
  const double step = (high - low) / kIntervals;
  for (int i = 1; i <= kIntervals; ++i) probe(i == kIntervals ? high : low + i * step);

  double left = std::max(low, best.at - step);
  double right = std::min(high, best.at + step);
  constexpr double kSection = 1.0 / std::numbers::phi;
  double a = right - kSection * (right - left);
  double b = left + kSection * (right - left);
  double at_a = probe(a);
  double at_b = probe(b);
  // 16 sections leave 1e-4 of the interval: the bound is flat at its minimum, so its error is the
  // square of that. A fixed number, because an interval of a few ulps does not shrink.
  for (int i = 0; i < 16; ++i) {
    if (at_a < at_b) {
      right = b;
      b = a;
      at_b = at_a;
      a = right - kSection * (right - left);
      at_a = probe(a);
    } else {
      left = a;
      a = b;
      at_a = at_b;
      b = left + kSection * (right - left);
      at_b = probe(b);
    }
  }
  return best;
}

}  // namespace sfumato
