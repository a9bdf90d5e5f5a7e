#pragma once

namespace sfumato {

/// The largest value found, by doubling and bisection, that `refuted` says yes to; 0 if not even 0 or what
/// is next to it is refuted. Errs down.
template <class Refuted>
[[nodiscard]] double largest_refuted(Refuted&& refuted, double precision = 1e-12) {
  constexpr double kNothing = 1e-12;
  if (!refuted(kNothing)) return 0.0;
  double low = kNothing, high = 1.0;
  while (refuted(high)) {
    low = high;
    high *= 2.0;
  }
  while (high - low > precision * high) {
    const double middle = 0.5 * (low + high);
    if (middle <= low || middle >= high) break;
    (refuted(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace sfumato
