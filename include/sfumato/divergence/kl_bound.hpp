#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "sfumato/core/claim.hpp"
#include "sfumato/core/units.hpp"

namespace sfumato {

/// An upper bound on a relative entropy that may have nothing to say.
struct KlBound {
  Claimed<Nats> kl;
  std::string reason = {};  ///< why kl is infinite and what to do instead; empty when it is finite
};

/// A bound by a Gaussian trade-off curve: the pair is no easier to tell apart than N(0,1), N(mu,1),
/// in both directions.
struct GdpBound {
  Claimed<double> mu;
  Claimed<Nats> kl;  ///< mu^2 / 2, both directions
};

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
