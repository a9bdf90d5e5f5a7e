#pragma once

#include "sfumato/core/units.hpp"

namespace sfumato {

namespace detail {
/// Two distributions that, off a set of small probability under each, are no easier to tell apart than N(0, 1)
/// and N(mu, 1) (Spec §7.10).
struct LocalGdp {
  double mu;
  double tail;        ///< probability of the set under the first distribution, < 1
  double tail_prime;  ///< under the second
};
}  // namespace detail
using detail::LocalGdp;

/// The same with the distributions exchanged.
[[nodiscard]] inline LocalGdp swapped(const LocalGdp& g) { return {g.mu, g.tail_prime, g.tail}; }

/// Spec §7.10 (2):   delta(eps) <= delta_mu(eps + log(1 - tail')) + tail,  at most 1. Rounded up.
[[nodiscard]] double delta_bound(const LocalGdp& local, double eps);

/// Smallest epsilon with that bound at most `delta`; +inf if delta <= tail. Rounded up.
[[nodiscard]] double epsilon_bound(const LocalGdp& local, Delta delta);

/// Largest true-positive rate at a false-positive rate. Rounded up.
[[nodiscard]] double tpr_bound(const LocalGdp& local, double fpr);

}  // namespace sfumato
