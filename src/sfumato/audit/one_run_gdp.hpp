#pragma once

#include "sfumato/audit/one_run.hpp"

namespace sfumato {

/// Lower bound on mu from one run, if the mechanism is mu-GDP for some mu.
///
/// A mu-GDP mechanism is (eps, delta_mu(eps))-DP for every eps (Spec §3.1), so mu is refuted if the
/// p-value of Spec §11.4 (1) is below 1 - confidence at any eps. Choosing the best eps needs no
/// correction: for each eps the refuting outcomes are "at least c(eps) correct guesses", so those of
/// all eps together are those of the eps with the least c, which is settled before the guesses.
///
/// Edges    0 if no mu is refuted. Found by bisection and a search over eps, both of which err down.
/// Throws   InvalidArgument as require_guesses(), or if confidence is not in (0, 1).
[[nodiscard]] Claimed<double> one_run_mu_lower_bound(const CanaryGuesses& guesses,
                                                     double confidence);

/// The epsilon at `delta` that follows from it.
[[nodiscard]] Claimed<Epsilon> one_run_epsilon_if_gdp(const CanaryGuesses& guesses, Delta delta,
                                                      double confidence);

}  // namespace sfumato
