#pragma once

#include <array>
#include <vector>

#include "sfumato/core/known.hpp"
#include "sfumato/core/pair.hpp"
#include "sfumato/divergence/kl_bound.hpp"
#include "sfumato/privacy/observation.hpp"

namespace sfumato {

/// What the theorems about a chain say of the KL of its last iterate, in one direction.
struct ChainBounds {
  KlBound contractive;        ///< Spec §8.3
  Known<double> lipschitz;    ///< of the second step in the metric of the noise
  KlBound path;               ///< KL of the whole paths (Spec §8.2)
  Known<Claimed<double>> mu;  ///< where the steps differ by a constant (Spec §8.4)
};

/// Both directions, forward and reverse, after each of the numbers of steps.
[[nodiscard]] std::vector<std::array<ChainBounds, 2>> chain_bounds(
    const Pair<QuadraticTraining>& data, double learning_rate, const std::vector<double>& steps);

}  // namespace sfumato
