#pragma once

#include "sfumato/divergence/pair_bounds.hpp"

namespace sfumato {

/// KL of the invariant distributions of two diffusions by formulas with constant noise, where they fall into independent
/// blocks (independent_blocks) of one coordinate, linear ones, and ones that are the same on both sides and forget their
/// starts, or have the same. In one dimension every drift is a gradient and the density is exp(2 int b / Sigma) up to its
/// mass: exact up to quadrature, on panels that interval arithmetic proves to be fine enough for every spike.
///
/// Edges    infinite, with the reason, where a drift depends on time or is not proven to pull back from far away.
[[nodiscard]] KlBound stationary_kl(const SdePair& pair);

}  // namespace sfumato
