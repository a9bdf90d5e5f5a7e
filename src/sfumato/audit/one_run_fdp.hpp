#pragma once

#include "sfumato/audit/one_run.hpp"
#include "sfumato/core/units.hpp"

namespace sfumato {

/// The largest value found, by doubling and bisection, that `refuted` says yes to; 0 if not even 0 or what
/// is next to it is refuted. Errs down.
template <class Refuted>
[[nodiscard]] double largest_refuted(Refuted&& refuted, double precision = 1e-12) {
  constexpr double kNothing = 1e-12;
  if (!refuted(kNothing)) return 0.0;
  double low = kNothing, high = 1.0;
  while (refuted(high)) {
    low = high;
    high *= 2.0;
  }
  while (high - low > precision * high) {
    const double middle = 0.5 * (low + high);
    if (middle <= low || middle >= high) break;
    (refuted(middle) ? low : high) = middle;
  }
  return low;
}

/// What bounds from the guesses on one model rest on.
inline constexpr const char* kFairCoins =
    "each canary was included by an independent fair coin, and nothing else depends on the coins";
inline constexpr const char* kGuessesSettled =
    "which canaries are guessed was settled without the coins";

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

/// Lower bound on mu from one run, if the mechanism is mu-GDP for some mu.
///
/// mu is refuted by its trade-off curve (Spec §11.5), or if the p-value of Spec §11.4 (1) is below 1 -
/// confidence at any eps: a mu-GDP mechanism is (eps, delta_mu(eps))-DP for every eps (Spec §3.1). Taking
/// the best of them needs no correction: each refutes for "at least c correct guesses", so together they
/// refute for the least c, which is settled before the guesses.
///
/// Edges    0 if no mu is refuted. Found by bisection and a search over eps, both of which err down.
/// Throws   InvalidArgument as require_guesses(), or if confidence is not in (0, 1).
[[nodiscard]] Claimed<double> one_run_mu_lower_bound(const CanaryGuesses& guesses,
                                                     double confidence);

}  // namespace sfumato
