#pragma once

#include <cstdint>

#include "sfumato/audit/lower_bounds.hpp"
#include "sfumato/audit/score_sample.hpp"

namespace sfumato {

/// TPR - FPR of a test, and how sure that is.
struct AdvantageEstimate {
  double value;
  double lower, upper;  ///< in [-1, 1]
};

/// Interval for the difference of two proportions: Wilson's score intervals joined by squares
/// [Newcombe1998, method 10]. Approximate, sensible at 0 and 1; worlds that share seeds make it too
/// wide rather than too narrow where their outcomes agree more often than chance.
///
/// Throws   InvalidArgument as rate_bounds(), or if confidence is not in (0, 1).
[[nodiscard]] AdvantageEstimate advantage_of(const TestCounts& counts, double confidence);

/// What a threshold on the score achieves on models that it was not chosen on: each half of the models
/// (entries with the same index stay together) is tested with the threshold that is best on the other.
/// Unlike the maximum of a ROC curve not biased upwards: 0 on average, or slightly below, where scores say
/// nothing. An estimate of this attack's advantage, which no attack needs to be content with.
///
/// Throws   InvalidArgument as require_scores(), or if a world has fewer than two models.
[[nodiscard]] AdvantageEstimate cross_fitted_advantage(const ScoreSample& sample, double confidence,
                                                       std::uint64_t seed);

}  // namespace sfumato
