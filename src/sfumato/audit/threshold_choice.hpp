#pragma once

#include "sfumato/audit/score_sample.hpp"

namespace sfumato {

/// The threshold t whose test "score >= t" shows the largest epsilon at this delta and level on
/// `sample`. If none shows any, the one with the largest TPR - FPR. Between equals the one in the
/// widest gap between scores, in its middle.
///
/// The choice saw the scores: a bound needs other ones (split()). Of many scores only about 500
/// thresholds are tried, dense at both ends; that costs power, never validity.
/// Edges    where all scores are equal, that score.
/// Throws   InvalidArgument as require_scores(), or if alpha is not in (0, 1).
[[nodiscard]] double best_threshold(const ScoreSample& sample, Delta delta, double alpha);

}  // namespace sfumato
