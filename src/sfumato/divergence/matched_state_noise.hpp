#pragma once

#include "sfumato/sde/drift_formulas.hpp"
#include "sfumato/sde/gaussian_distribution.hpp"

namespace sfumato {

/// The second noise depends on the state, Sigma'(x), the first is constant (Spec §27.12 (1)), in one dimension:
///
///   D = E_p[ c^2 N - 2 (M N c)' ] + E_p[ M^2 N (grad log p)^2 ],   N = 1/Sigma'(x), M = (Sigma'(x) - Sigma)/2,
///   c = b - b' + Sigma''/2
///
/// with KL(p_t||q_t) <= KL(p_0||q_0) + 1/2 integral of D: no contraction, and infinite for a point start.
struct StateNoiseRate {
  double drift_part;
  double fisher_part;
  double fisher_part_upper;  ///< sup of M^2 N times the Fisher information: needs no more of p
  [[nodiscard]] double rate() const { return drift_part + fisher_part; }
};

/// D under p = N(mean, variance), the Gaussian integrals by the trapezoidal rule, which converges geometrically.
/// Throws   InvalidArgument unless everything is one-dimensional and the variance is positive; NumericalFailure where
///          Sigma' is not proven to be positive for all x.
[[nodiscard]] StateNoiseRate state_noise_rate(const DriftFormulas& p, const DriftFormulas& q,
                                              double noise, const Expression& noise_prime,
                                              const GaussianDistribution& distribution);

}  // namespace sfumato
