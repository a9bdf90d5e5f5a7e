#pragma once

#include "sfumato/audit/lower_bounds.hpp"

namespace sfumato {

/// Whether models of D and D' share their randomness.
enum class Worlds { independent, coupled };

struct EpsilonInterval {
  Claimed<Epsilon> lower, upper;  ///< both estimates: credible, not confidence
};

/// Equal-tailed credible interval for the epsilon of one test, from independent Jeffreys posteriors of
/// its two error rates [ZanellaBeguelin2023]:
///
///   P[eps <= e] = P[ FNR + e^e FPR >= 1 - delta,  FPR + e^e FNR >= 1 - delta, and the same for the
///                    complementary test ],   FNR ~ Beta(misses + 1/2, hits + 1/2), FPR likewise
///
/// One-dimensional integrals, exact to about 1e-7 of probability, and finite with no errors at all. It
/// is shorter than a confidence interval and says less: it trusts the prior, and that the test's
/// epsilon is the mechanism's.
///
/// Throws   InvalidArgument for coupled worlds, whose rates are not independent; if a world is empty,
///          counts do not fit, or credibility is not in (0, 1).
[[nodiscard]] EpsilonInterval credible_epsilon(const TestCounts& counts, Delta delta,
                                               double credibility, Worlds worlds);

}  // namespace sfumato
