#pragma once

#include "sfumato/math/interval.hpp"

namespace sfumato {

/// Arithmetic of closed intervals with ends rounded outwards, by one unit in the last place where IEEE rounds correctly
/// and by four where a library does. Ends may be infinite, which stand for "unbounded"; 0 times unbounded is 0. An
/// operation that has no value on a part of an interval gives all numbers.

[[nodiscard]] Interval all_numbers();
[[nodiscard]] inline Interval just(double value) { return {value, value}; }
/// A decimal number of a formula, of which `value` is the nearest double.
[[nodiscard]] Interval decimal(double value);

[[nodiscard]] Interval operator+(Interval a, Interval b);
[[nodiscard]] Interval operator-(Interval a);
[[nodiscard]] Interval operator-(Interval a, Interval b);
[[nodiscard]] Interval operator*(Interval a, Interval b);
[[nodiscard]] Interval inverse(Interval a);
[[nodiscard]] Interval power(Interval a, int exponent);
[[nodiscard]] Interval power(Interval base, Interval exponent);
[[nodiscard]] Interval exp(Interval a);
[[nodiscard]] Interval log(Interval a);
[[nodiscard]] Interval sqrt(Interval a);
[[nodiscard]] Interval sin(Interval a);
[[nodiscard]] Interval cos(Interval a);
[[nodiscard]] Interval tanh(Interval a);
[[nodiscard]] Interval abs(Interval a);
[[nodiscard]] Interval sign(Interval a);
/// sign', as differences of sign see it: 0, and any number >= 0 where the interval contains 0.
[[nodiscard]] Interval jump(Interval a);

/// The numbers in both. Empty intersections cannot occur for two enclosures of one value.
[[nodiscard]] Interval both(Interval a, Interval b);
/// The smallest interval that contains both.
[[nodiscard]] Interval hull(Interval a, Interval b);
/// The largest |x|.
[[nodiscard]] double magnitude(Interval a);
[[nodiscard]] inline double width(Interval a) { return a.upper - a.lower; }
[[nodiscard]] bool is_bounded(Interval a);

}  // namespace sfumato
