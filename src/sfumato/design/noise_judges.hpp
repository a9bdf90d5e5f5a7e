#pragma once

#include "sfumato/design/iterated_design.hpp"
#include "sfumato/divergence/pair_bounds.hpp"
#include "sfumato/sde/ou_pair.hpp"
#include "sfumato/sde/simulate.hpp"

namespace sfumato {

/// The exact KL(p_t || q_t) of two linear flows that share the given noise, and its first-order
/// moments  G = -Sigma grad Sigma.  With the distributions N(m, V), N(m', V') linear in Sigma (Spec §5),
///
///   dKL/dV  = (V'^{-1} - V^{-1}) / 2
///   dKL/dV' = (V'^{-1} - V'^{-1} (V + (m - m')(m - m')^T) V'^{-1}) / 2
///   grad    = Q [ (Q^T dKL/dV Q)_ij phi1(l_i + l_j, t) ] Q^T + the same of V'
///
/// Time     > 0, or +inf where both have a long-run distribution.
/// Throws   InvalidArgument for a time or noise that leaves a distribution singular; as exact_kl.
[[nodiscard]] NoiseJudgement judge_linear(OuPair pair, const Covariance& noise, double time);

struct SimulatedJudgeOptions {
  SimulateOptions simulation = {};
  double step = 0.01;  ///< of a path
  double rate = 0.0;   ///< of contraction that the times should resolve; the same for every noise
  bool diagonal = false;  ///< only the diagonal of the second moments is needed
};

/// The smaller of the path bound and the contractive bound on KL(p_t || q_t) (Spec §6.2, §6.3, §12.1)
/// by simulation of the first flow, and the second moments of its drift differences with the weights
/// of that bound:  kl = tr(G Sigma^{-1}) (plus the KL of the starts).
///
/// Noises that are judged with the same options see the same random numbers, so that their
/// differences are known better than each of them.
///
/// Claim    estimate; the bounds themselves are proven, their integrals are simulated.
/// Time     finite, > 0.
/// Throws   InvalidArgument unless both sides share one constant, positive definite noise;
///          NumericalFailure if paths diverge; as simulate().
[[nodiscard]] NoiseJudgement judge_by_simulation(const SdePair& pair, double time,
                                                 const SimulatedJudgeOptions& options,
                                                 Observer& observer);

}  // namespace sfumato
