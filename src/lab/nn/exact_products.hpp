#pragma once

#include <cmath>
#include <cstddef>

namespace sfumato::lab {

/// A number and its derivative along one direction: arithmetic on duals is forward differentiation,
/// so that code written once for a scalar T gives directional derivatives when T is Dual.
struct Dual {
  double value = 0.0, tangent = 0.0;

  Dual() = default;
  Dual(double number) : value(number) {}  // NOLINT: constants appear in formulas as they are
  Dual(double number, double derivative) : value(number), tangent(derivative) {}

  Dual& operator+=(const Dual& b) {
    value += b.value;
    tangent += b.tangent;
    return *this;
  }
  friend Dual operator+(const Dual& a, const Dual& b) {
    return {a.value + b.value, a.tangent + b.tangent};
  }
  friend Dual operator-(const Dual& a, const Dual& b) {
    return {a.value - b.value, a.tangent - b.tangent};
  }
  friend Dual operator*(const Dual& a, const Dual& b) {
    return {a.value * b.value, a.value * b.tangent + a.tangent * b.value};
  }
  friend Dual operator/(const Dual& a, const Dual& b) {
    const double ratio = a.value / b.value;
    return {ratio, (a.tangent - ratio * b.tangent) / b.value};
  }
};

inline double value_of(double a) { return a; }
inline double value_of(const Dual& a) { return a.value; }

inline Dual exp(const Dual& a) {
  const double e = std::exp(a.value);
  return {e, e * a.tangent};
}
inline Dual log1p(const Dual& a) { return {std::log1p(a.value), a.tangent / (1.0 + a.value)}; }
inline Dual tanh(const Dual& a) {
  const double t = std::tanh(a.value);
  return {t, (1.0 - t * t) * a.tangent};
}

/// The three products of a weight matrix (rows x columns, row by row) in ExactBackprop; they take
/// nearly all of its time. Each sum is made in the order of its terms, whatever the machine.

/// out_c += sum_r in_r weights_rc
void add_product(const double* weights, std::size_t rows, std::size_t columns, const double* in,
                 double* out);
void add_product(const Dual* weights, std::size_t rows, std::size_t columns, const Dual* in,
                 Dual* out);

/// out_r += sum_c weights_rc in_c
void add_transposed_product(const double* weights, std::size_t rows, std::size_t columns,
                            const double* in, double* out);
void add_transposed_product(const Dual* weights, std::size_t rows, std::size_t columns,
                            const Dual* in, Dual* out);

/// out_rc += left_r right_c
void add_outer(const double* left, std::size_t rows, const double* right, std::size_t columns,
               double* out);
void add_outer(const Dual* left, std::size_t rows, const Dual* right, std::size_t columns,
               Dual* out);

}  // namespace sfumato::lab
