#include "sfumato/math/interval_arithmetic.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sfumato/core/infinity.hpp"

namespace sfumato {
namespace {

double down(double x, int units = 1) {
  for (int i = 0; i < units; ++i) x = std::nextafter(x, -kInf);
  return x;
}
double up(double x, int units = 1) {
  for (int i = 0; i < units; ++i) x = std::nextafter(x, kInf);
  return x;
}
// glibc's functions of one argument err by less than two units in the last place.
constexpr int kLibrary = 4;

Interval outward(double lower, double upper, int units = 1) {
  if (std::isnan(lower) || std::isnan(upper)) return all_numbers();
  return {down(lower, units), up(upper, units)};
}

/// Products of ends, where nothing times unbounded is nothing.
double times(double a, double b) { return a == 0.0 || b == 0.0 ? 0.0 : a * b; }

/// Whether some k pi + offset lies in the interval; intervals of a sine are wide when they are uncertain.
bool contains_multiple(Interval a, double offset, double period) {
  // The rounding of a large argument against pi, generously.
  const double slack = 1e-15 * (4.0 + std::max(std::abs(a.lower), std::abs(a.upper)));
  const double first = std::ceil((a.lower - offset - slack) / period);
  return first * period + offset <= a.upper + slack;
}

template <class F>
Interval monotone(Interval a, F function, double least, double most) {
  const Interval value = outward(function(a.lower), function(a.upper), kLibrary);
  return {std::max(value.lower, least), std::min(value.upper, most)};
}

/// x^n for x >= 0.
double positive_power(double x, int n) { return std::pow(x, n); }

}  // namespace

Interval all_numbers() { return {-kInf, kInf}; }

Interval decimal(double value) {
  // Whole numbers are meant as they are; of others the decimal is within half a unit.
  return std::trunc(value) == value && std::abs(value) < 9e15 ? just(value) : outward(value, value);
}

Interval operator+(Interval a, Interval b) {
  // Sums without rounding stay as they are.
  const auto is_exact = [](double x, double y, double sum) {
    const double back = sum - x;
    return (x - (sum - back)) + (y - back) == 0.0;
  };
  const double lower = a.lower + b.lower, upper = a.upper + b.upper;
  if (std::isnan(lower) || std::isnan(upper)) return all_numbers();
  return {is_exact(a.lower, b.lower, lower) ? lower : down(lower),
          is_exact(a.upper, b.upper, upper) ? upper : up(upper)};
}

Interval operator-(Interval a) { return {-a.upper, -a.lower}; }

Interval operator-(Interval a, Interval b) { return a + (-b); }

Interval operator*(Interval a, Interval b) {
  const auto is_one = [](Interval x) { return x.lower == 1.0 && x.upper == 1.0; };
  if (is_one(a)) return b;
  if (is_one(b)) return a;
  if ((a.lower == 0.0 && a.upper == 0.0) || (b.lower == 0.0 && b.upper == 0.0)) return just(0.0);
  const double products[] = {times(a.lower, b.lower), times(a.lower, b.upper),
                             times(a.upper, b.lower), times(a.upper, b.upper)};
  const auto [least, most] = std::minmax_element(std::begin(products), std::end(products));
  Interval value = outward(*least, *most);
  // Signs are exact: those of the factors, as a product may have vanished by its size.
  const bool same = (a.lower >= 0.0 && b.lower >= 0.0) || (a.upper <= 0.0 && b.upper <= 0.0);
  const bool opposite = (a.lower >= 0.0 && b.upper <= 0.0) || (a.upper <= 0.0 && b.lower >= 0.0);
  if (same) value.lower = std::max(value.lower, 0.0);
  if (opposite) value.upper = std::min(value.upper, 0.0);
  return value;
}

Interval inverse(Interval a) {
  if (a.lower <= 0.0 && a.upper >= 0.0) return all_numbers();
  const Interval value = outward(1.0 / a.upper, 1.0 / a.lower);
  return a.lower > 0.0 ? Interval{std::max(0.0, value.lower), value.upper}
                       : Interval{value.lower, std::min(0.0, value.upper)};
}

Interval power(Interval a, int exponent) {
  if (exponent == 0) return just(1.0);
  if (exponent == 1) return a;
  if (exponent < 0) return inverse(power(a, -exponent));
  const double low = std::abs(a.lower), high = std::abs(a.upper);
  if (exponent % 2 == 0) {
    const double least = a.lower <= 0.0 && a.upper >= 0.0 ? 0.0 : std::min(low, high);
    const Interval value = outward(positive_power(least, exponent),
                                   positive_power(std::max(low, high), exponent), kLibrary);
    return {std::max(0.0, value.lower), value.upper};
  }
  const auto odd = [&](double x) {
    return std::copysign(positive_power(std::abs(x), exponent), x);
  };
  return outward(odd(a.lower), odd(a.upper), kLibrary);
}

Interval power(Interval base, Interval exponent) {
  if (!(base.lower > 0.0)) return all_numbers();
  return exp(exponent * log(base));
}

Interval exp(Interval a) {
  return monotone(
      a, [](double x) { return std::exp(x); }, 0.0, kInf);
}

Interval log(Interval a) {
  if (!(a.lower > 0.0)) return all_numbers();
  return monotone(
      a, [](double x) { return std::log(x); }, -kInf, kInf);
}

Interval sqrt(Interval a) {
  if (!(a.lower >= 0.0)) return all_numbers();
  return monotone(
      a, [](double x) { return std::sqrt(x); }, 0.0, kInf);
}

Interval cos(Interval a) {
  // Arguments beyond this have lost the digits that say where in the period they are.
  if (!(std::abs(a.lower) < 1e8 && std::abs(a.upper) < 1e8)) return {-1.0, 1.0};
  const double period = 2.0 * std::numbers::pi;
  const double at_lower = std::cos(a.lower), at_upper = std::cos(a.upper);
  Interval value = outward(std::min(at_lower, at_upper), std::max(at_lower, at_upper), kLibrary);
  if (contains_multiple(a, 0.0, period)) value.upper = 1.0;
  if (contains_multiple(a, std::numbers::pi, period)) value.lower = -1.0;
  return {std::max(value.lower, -1.0), std::min(value.upper, 1.0)};
}

Interval sin(Interval a) {
  if (!(std::abs(a.lower) < 1e8 && std::abs(a.upper) < 1e8)) return {-1.0, 1.0};
  const double period = 2.0 * std::numbers::pi, quarter = 0.5 * std::numbers::pi;
  const double at_lower = std::sin(a.lower), at_upper = std::sin(a.upper);
  Interval value = outward(std::min(at_lower, at_upper), std::max(at_lower, at_upper), kLibrary);
  if (contains_multiple(a, quarter, period)) value.upper = 1.0;
  if (contains_multiple(a, -quarter, period)) value.lower = -1.0;
  return {std::max(value.lower, -1.0), std::min(value.upper, 1.0)};
}

Interval tanh(Interval a) {
  return monotone(
      a, [](double x) { return std::tanh(x); }, -1.0, 1.0);
}

Interval abs(Interval a) {
  const double low = std::abs(a.lower), high = std::abs(a.upper);
  return {a.lower <= 0.0 && a.upper >= 0.0 ? 0.0 : std::min(low, high), std::max(low, high)};
}

Interval sign(Interval a) {
  if (a.lower > 0.0) return just(1.0);
  if (a.upper < 0.0) return just(-1.0);
  return {-1.0, 1.0};
}

Interval jump(Interval a) {
  return a.lower > 0.0 || a.upper < 0.0 ? just(0.0) : Interval{0.0, kInf};
}

Interval both(Interval a, Interval b) {
  return {std::max(a.lower, b.lower), std::min(a.upper, b.upper)};
}
Interval hull(Interval a, Interval b) {
  return {std::min(a.lower, b.lower), std::max(a.upper, b.upper)};
}
double magnitude(Interval a) { return std::max(std::abs(a.lower), std::abs(a.upper)); }
bool is_bounded(Interval a) { return std::isfinite(a.lower) && std::isfinite(a.upper); }

}  // namespace sfumato
