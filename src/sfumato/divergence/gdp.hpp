#pragma once

#include "sfumato/core/units.hpp"

namespace sfumato {

/// The pair N(0, 1) and N(mu, 1): what a mu-GDP mechanism is compared with [DongRothSu2022].

/// Hockey-stick divergence at one threshold, with what root finding needs.
struct GdpDelta {
  double delta;
  double log_delta;   ///< stays finite long after delta has underflowed
  double log_tail_q;  ///< log Q(L > eps); -d delta / d eps = e^eps Q(L > eps)
};

/// Spec §3.1:   delta(eps) = Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu),
/// the same in both directions; `eps` is a log-ratio threshold and may be negative.
///
/// Edges   mu = 0 gives max(0, 1 - e^eps); mu = inf gives 1.
/// Throws  InvalidArgument if mu < 0 or eps is NaN.
[[nodiscard]] GdpDelta gdp_delta(double mu, double eps);

/// Smallest epsilon >= 0 with gdp_delta(mu, epsilon) <= delta; +inf for delta = 0 and mu > 0.
[[nodiscard]] Epsilon gdp_epsilon(double mu, Delta delta);

}  // namespace sfumato
