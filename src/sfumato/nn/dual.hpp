#pragma once

#include <cmath>

namespace sfumato {

/// A number and its derivative along one direction: arithmetic on duals is forward differentiation,
/// so that code written once for a scalar T gives directional derivatives when T is Dual.
struct Dual {
  double value = 0.0, slope = 0.0;

  Dual() = default;
  Dual(double number) : value(number) {}  // NOLINT: constants appear in formulas as they are
  Dual(double number, double derivative) : value(number), slope(derivative) {}

  Dual& operator+=(const Dual& b) {
    value += b.value;
    slope += b.slope;
    return *this;
  }
  friend Dual operator+(const Dual& a, const Dual& b) {
    return {a.value + b.value, a.slope + b.slope};
  }
  friend Dual operator-(const Dual& a, const Dual& b) {
    return {a.value - b.value, a.slope - b.slope};
  }
  friend Dual operator*(const Dual& a, const Dual& b) {
    return {a.value * b.value, a.value * b.slope + a.slope * b.value};
  }
  friend Dual operator/(const Dual& a, const Dual& b) {
    const double ratio = a.value / b.value;
    return {ratio, (a.slope - ratio * b.slope) / b.value};
  }
};

inline double value_of(double a) { return a; }
inline double value_of(const Dual& a) { return a.value; }

inline Dual exp(const Dual& a) {
  const double e = std::exp(a.value);
  return {e, e * a.slope};
}
inline Dual log1p(const Dual& a) { return {std::log1p(a.value), a.slope / (1.0 + a.value)}; }
inline Dual tanh(const Dual& a) {
  const double t = std::tanh(a.value);
  return {t, (1.0 - t * t) * a.slope};
}

}  // namespace sfumato
