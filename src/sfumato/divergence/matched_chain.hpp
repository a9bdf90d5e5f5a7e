#pragma once

#include "sfumato/divergence/linear_chain.hpp"

namespace sfumato {

/// Two linear chains with different steps and different step noise, without KL of the starts (Spec §27.9).
struct ChainUnequalBound {
  double contraction;  ///< c of T' in the metric of its own noise
  double hull;         ///< the bound over all steps
  double best;         ///< the smallest over splits: the first steps exactly, the rest by the hull
  double split;        ///< how many steps are paid exactly
};
/// `steps` finite; a point start is allowed.
/// Throws   NumericalFailure if a step noise is singular; InvalidArgument as ChainDistribution, or for more than a million steps.
[[nodiscard]] ChainUnequalBound chain_unequal_bound(const LinearChainPair& pair, double steps);

/// The same plus the KL of the starts; infinite, with the reason, where it does not apply.
[[nodiscard]] KlBound matched_chain_bound(const LinearChainPair& pair, double steps);

}  // namespace sfumato
