#pragma once

#include "sfumato/divergence/kl_bound.hpp"
#include "sfumato/sde/chain_distribution.hpp"
#include "sfumato/sde/gaussian_distribution.hpp"

namespace sfumato {

/// Two linear chains, the first of data D and the second of data D'. Bounds are on KL(p || q).
struct LinearChainPair {
  LinearChain p;
  GaussianDistribution start_p;
  LinearChain q;
  GaussianDistribution start_q;
};

[[nodiscard]] inline LinearChainPair swapped(const LinearChainPair& pair) {
  return {pair.q, pair.start_q, pair.p, pair.start_p};
}

/// The exact KL of the last iterates after `steps` steps, +inf for the long run; throws as
/// ChainDistribution.
[[nodiscard]] Claimed<Nats> exact_kl(const LinearChainPair& pair, double steps);

/// The KL of the two whole paths (Spec §8.2 (1)), which bounds that of the last iterates; the KL of
/// the starts is included.
///
///   sum_{j<k} E_{p_j} step_kl = k KL( N(0,S) || N(0,S') ) + 1/2 sum_j E |T(x_j) - T'(x_j)|_{S'}^2
///
/// The sum is a sum of positive terms by doubling, O(d^3 + d^2 log k): any number of steps.
///
/// Edges    infinite, with the reason, when S' is singular (unless both chains are the same), the
///          starts are mutually singular, or steps = +inf and the chains differ.
/// Throws   InvalidArgument as ChainDistribution, or if steps is not a whole number >= 0 or +inf.
[[nodiscard]] KlBound path_kl(const LinearChainPair& pair, double steps);

/// The first form of Spec §8.3 with a given c in [0, 1] that is at least the Lipschitz constant of
/// T'; the KL of the starts is included. Edges and throws as best_contractive_bound.
[[nodiscard]] KlBound chain_contractive_bound(const LinearChainPair& pair, double lipschitz,
                                              double steps);

/// A contractive bound of a chain with the constant behind it.
struct ChainContractiveBound {
  KlBound bound;
  double lipschitz;  ///< of T' in |.|_S, exact; above 1 when q's step does not contract
  double used;       ///< c in [min(lipschitz, 1), 1] of the bound
};

/// The smallest bound of Spec §8.3 found: the first form over c in [min(lipschitz, 1), 1], and the
/// second form at the Lipschitz constant where it is admissible and steps d^2 <= 2e6 (it has no
/// closed sum). c > 1 falls back to 1, and the assumptions say so.
///
/// Edges    infinite, with the reason, when S and S' differ or are singular, or the starts are
///          mutually singular. steps = +inf gives the limit where the chain of p has one and c < 1.
[[nodiscard]] ChainContractiveBound best_contractive_bound(const LinearChainPair& pair,
                                                           double steps);

}  // namespace sfumato
