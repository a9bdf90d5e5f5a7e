#pragma once

#include <cstdint>

namespace sfumato {

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
