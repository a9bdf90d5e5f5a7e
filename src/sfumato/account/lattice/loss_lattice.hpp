#pragma once

#include <cstdint>
#include <vector>

#include "sfumato/account/lattice/loss_distribution.hpp"

namespace sfumato {

/// P-probabilities of losses on the multiples of a spacing.
struct LatticeDistribution {
  std::int64_t first = 0;    ///< the loss of mass[0] is first * spacing
  std::vector<double> mass;  ///< each is off by at most a rounding of itself
  double infinite = 0.0;  ///< P-probability of losses above the lattice; 0 for a lower distribution
  double slack = 0.0;     ///< atoms were moved by at most this much
};

/// Which losses the lattice has: first <= i <= last.
struct LatticeRange {
  double spacing;
  std::int64_t first, last;
};

/// A distribution of the loss whose delta(eps), alone and composed with others, is at least that of `distribution`: every loss between two points is
/// divided among them such that the masses of P and of Q stay the same. In terms of X = dP/dQ under Q that is a spread with the same mean,
/// and delta(eps) = E_Q (X - e^eps)_+ is convex in each factor of X [Doroshenko2022]. Losses below the lattice are raised to its first point.
[[nodiscard]] LatticeDistribution upper_lattice(const LossDistribution& distribution,
                                                const LatticeRange& range);

/// A distribution whose delta(eps) is at most that of `distribution`: three cells are pooled on the two points inside of them, with the same masses under
/// P and Q, where one half of them has its mean below the first and the other above the second; elsewhere on the last point
/// below their mean. Losses below the lattice are left out, losses above it lowered to its last point.
[[nodiscard]] LatticeDistribution lower_lattice(const LossDistribution& distribution,
                                                const LatticeRange& range);

}  // namespace sfumato
