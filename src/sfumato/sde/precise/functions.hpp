#pragma once

#include <cmath>
#include <limits>

namespace sfumato::precise {

/// The functions of a distribution in any floating-point type T; std and Boost find them by argument.

template <class T>
[[nodiscard]] T exp_minus_one(const T& x) {
  using std::abs;
  using std::exp;
  if (abs(x) > T(0.01)) return exp(x) - T(1);
  T term = x;
  T sum = x;
  for (int k = 2; abs(term) > abs(sum) * std::numeric_limits<T>::epsilon(); ++k) {
    term *= x / T(k);
    sum += term;
  }
  return sum;
}

/// log(1 - u) for u < 1.
template <class T>
[[nodiscard]] T log_of_complement(const T& u) {
  using std::abs;
  using std::log;
  if (abs(u) > T(0.01)) return log(T(1) - u);
  T power = u;
  T sum = u;
  for (int k = 2; abs(power) > abs(sum) * std::numeric_limits<T>::epsilon(); ++k) {
    power *= u;
    sum += power / T(k);
  }
  return -sum;
}

/// e^{-rate time}; 0 where it is below everything that T can hold beside 1.
template <class T>
[[nodiscard]] T decay(const T& rate, double time) {
  using std::exp;
  const T exponent = rate * T(time);
  return exponent > T(20000) ? T(0) : exp(-exponent);
}

/// The integral of e^{-rate s} over [0, time], time finite (Spec §1.9).
template <class T>
[[nodiscard]] T phi1(const T& rate, double time) {
  if (rate == T(0)) return T(time);
  const T exponent = rate * T(time);
  if (exponent > T(20000)) return T(1) / rate;
  return -exp_minus_one(T(-exponent)) / rate;
}

/// (1 - u)^steps, steps a whole number.
template <class T>
[[nodiscard]] T power_of_complement(const T& u, double steps) {
  using std::exp;
  using std::log;
  if (steps == 0.0) return T(1);
  if (u == T(1)) return T(0);
  const T exponent = T(steps) * (u < T(1) ? log_of_complement(u) : T(log(u - T(1))));
  const T size = exponent < T(-20000) ? T(0) : exp(exponent);
  return u < T(1) || std::fmod(steps, 2.0) == 0.0 ? size : T(-size);
}

/// The sum of (1 - u)^j over j < steps.
template <class T>
[[nodiscard]] T geometric_sum(const T& u, double steps) {
  if (u == T(0) || steps <= 1.0) return T(steps);
  if (u < T(1)) return -exp_minus_one(T(T(steps) * log_of_complement(u))) / u;
  return (T(1) - power_of_complement(u, steps)) / u;
}

}  // namespace sfumato::precise
