#pragma once

#include "sfumato/core/claim.hpp"
#include "sfumato/core/units.hpp"
#include "sfumato/divergence/gaussian_hockey_stick.hpp"

namespace sfumato {

/// Smallest epsilon >= 0 with delta_{P,Q}(epsilon) <= delta (Spec §3), both distributions normal.
///
/// Edges   0 if already delta(0) <= delta; for delta = 0 the largest value of log(p/q), which is
///         +inf unless Q is wider in every direction; +inf for mutually singular distributions, delta < 1.
[[nodiscard]] Claimed<Epsilon> gaussian_epsilon(const WhitenedPair& pair, Delta delta);

/// The same from the privacy loss in both directions.
[[nodiscard]] Claimed<Epsilon> gaussian_epsilon(const PrivacyLoss& forward,
                                                const PrivacyLoss& reverse, Delta delta);

/// Largest true-positive rate P(A) of a test whose false-positive rate Q(A) is at most `fpr`.
///
///   tpr = min over eps of [ delta_{P,Q}(eps) + e^eps fpr ],  attained where Q(L > eps) = fpr
///
/// Every eps gives an upper bound, so an inexact search errs upwards.
/// Throws  InvalidArgument unless fpr is in [0, 1].
[[nodiscard]] Claimed<double> gaussian_tpr(const WhitenedPair& pair, double fpr);

}  // namespace sfumato
