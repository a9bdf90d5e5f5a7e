#pragma once

#include "sfumato/audit/one_run.hpp"

namespace sfumato {

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
