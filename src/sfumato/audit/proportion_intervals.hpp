#pragma once

#include <cstdint>

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

/// Largest p with  P[Bin(trials, p) >= successes] <= tail: a lower bound on the success probability
/// that errs with probability `tail` at most, whatever it is.
///
///   Spec §11.3 (2):   Beta^{-1}(tail; successes, trials - successes + 1)
///
/// Edges    no success gives 0. Rounded down, by a relative 1e-12.
/// Throws   InvalidArgument if there is no trial, there are more successes than trials, or tail is
///          not in (0, 1). NumericalFailure for more than some 10^8 trials.
[[nodiscard]] double clopper_pearson_lower(std::uint64_t successes, std::uint64_t trials,
                                           double tail);

/// Smallest p with  P[Bin(trials, p) <= successes] <= tail: the same from above.
///
/// Edges    only successes give 1. Rounded up, by a relative 1e-12. It is one minus the lower bound of
///          the failures, and keeps its digits where that difference would lose them.
[[nodiscard]] double clopper_pearson_upper(std::uint64_t successes, std::uint64_t trials,
                                           double tail);

struct ProbabilityInterval {
  double lower, upper;
};

/// Both, each with half of 1 - confidence.
/// Throws   as above; InvalidArgument if confidence is not in (0, 1).
[[nodiscard]] ProbabilityInterval clopper_pearson(std::uint64_t successes, std::uint64_t trials,
                                                  double confidence);

}  // namespace sfumato
