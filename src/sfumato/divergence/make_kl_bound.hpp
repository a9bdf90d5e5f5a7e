#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "sfumato/divergence/kl_bound.hpp"

namespace sfumato {

/// How bounds are made: internal to those that prove them.

/// No bound by this method, and why.
[[nodiscard]] inline KlBound no_bound(std::string method, std::string reason) {
  const double infinite = std::numeric_limits<double>::infinity();
  return {{Nats{infinite}, Claim::upper_bound, std::move(method)}, std::move(reason)};
}

/// What the rounding of a closed form may have taken off a bound is put back, and more.
inline constexpr double kRoundedUp = 1.0 + 1e-14;

/// `value` as an upper bound, rounded up.
[[nodiscard]] inline KlBound kl_bound(double value, std::string method,
                                      std::vector<std::string> assumptions = {}) {
  return {{Nats{value * kRoundedUp}, Claim::upper_bound, std::move(method), std::move(assumptions)},
          {}};
}

/// The bound `value`, or none for `overflow` when it is infinite or NaN.
[[nodiscard]] inline KlBound finite_kl_bound(double value, std::string method,
                                             std::string overflow) {
  return value < std::numeric_limits<double>::infinity()
             ? kl_bound(value, std::move(method))
             : no_bound(std::move(method), std::move(overflow));
}

}  // namespace sfumato
