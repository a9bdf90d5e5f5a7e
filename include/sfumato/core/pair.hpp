#pragma once

#include <utility>

namespace sfumato {

/// The same thing on D and on D', two data sets that differ in one record.
template <class T>
struct Pair {
  T d, d_prime;

  [[nodiscard]] friend bool operator==(const Pair&, const Pair&) = default;
};

/// The pair seen from D': what was asked of (D, D') is then asked of (D', D).
template <class T>
[[nodiscard]] Pair<T> swapped(Pair<T> pair) {
  return {std::move(pair.d_prime), std::move(pair.d)};
}

/// `change` of both.
template <class T, class F>
[[nodiscard]] auto map(const Pair<T>& pair, F&& change) {
  return Pair<decltype(change(pair.d))>{change(pair.d), change(pair.d_prime)};
}

}  // namespace sfumato
