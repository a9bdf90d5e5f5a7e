#pragma once

#include "sfumato/audit/one_run.hpp"
#include "sfumato/core/units.hpp"

namespace sfumato {

/// Whether a mechanism of this guarantee lets nobody guess so well, save with probability below alpha, by
/// its whole trade-off curve [MahloujifarMelisChaudhuri2025].
///
/// Let P(E) <= F(P'(E)) for all events E and all inclusions that differ in one coin, F concave. With A_i =
/// P[at least i correct],
///
///   Spec §11.5 (2):  (r - i) A_i >= sum_{j > i} A_j + m F^{-1}( ((i+1) A_{i+1} + sum_{j > i+1} A_j) / m ).
///
/// Starting from A_v = alpha and A_j = 0 beyond, this forces a least A_i for every i < v; if it forces A_0
/// above 1, then P[at least v correct] < alpha. Stronger than the tail of Spec §11.4 for many canaries and
/// for Gaussian DP, weaker by a little for few.
///
/// Time proportional to the distance of v from where nothing is forced any more, r at most. Rounded towards
/// "no".
/// Throws   InvalidArgument as require_guesses(), or if alpha is not in (0, 1).
[[nodiscard]] bool one_run_curve_refutes(const CanaryGuesses& guesses, Epsilon epsilon, Delta delta,
                                         double alpha);
/// The same for mu-GDP. Throws   InvalidArgument also if mu is negative or not finite.
[[nodiscard]] bool one_run_curve_refutes_gdp(const CanaryGuesses& guesses, double mu, double alpha);

}  // namespace sfumato
