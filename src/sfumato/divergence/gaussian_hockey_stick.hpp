#pragma once

#include "sfumato/core/claim.hpp"
#include "sfumato/divergence/privacy_loss.hpp"
#include "sfumato/math/whitened_pair.hpp"

namespace sfumato {

/// delta_{P,Q}(eps) = sup_A [ P(A) - e^eps Q(A) ] and what root finding and trade-off curves need.
struct HockeyStick {
  double delta;
  double log_delta;   ///< stays finite long after delta has underflowed; -inf for exactly 0
  double log_tail_q;  ///< log Q(L > eps), good to 1e-10 of delta / e^eps; it is the slope:
                      ///< d delta / d eps = -e^eps Q(L > eps)
  Claim claim;  ///< exact (to about 1e-10 relative), or upper_bound where no contour converged
};

/// Hockey-stick divergence of two normal distributions by saddle-point contour integration (Spec §3.3).
///
/// `eps` is a threshold on the log ratio and may be negative; Risk takes an Epsilon. The other
/// direction is that of swapped(pair).
///
/// Edges   mutually singular distributions give 1; equal variances use the closed form (Spec §3.1);
///         thresholds outside the range of L give exactly 0 or 1 - e^eps.
/// Throws  InvalidArgument if eps is NaN.
[[nodiscard]] HockeyStick gaussian_hockey_stick(const WhitenedPair& pair, double eps);

/// The same from the privacy loss in both directions, for callers that evaluate many thresholds.
[[nodiscard]] HockeyStick gaussian_hockey_stick(const PrivacyLoss& forward,
                                                const PrivacyLoss& reverse, double eps);

/// log Q(L > eps) with its own relative accuracy, also where e^eps Q is tiny beside delta: the
/// false-positive rate of the best test with threshold eps.
[[nodiscard]] double gaussian_log_tail(const PrivacyLoss& forward, const PrivacyLoss& reverse,
                                       double eps);

/// Total variation distance = delta(0), the same in both directions.
[[nodiscard]] Claimed<double> gaussian_total_variation(const WhitenedPair& pair);

}  // namespace sfumato
