#pragma once

#include <vector>

#include "sfumato/audit/proportion_intervals.hpp"

namespace sfumato::apps {

/// What the models of one noise lose and show: the mean training loss with its standard error, and the AUC of an
/// attack with its interval.
struct LossAndAuc {
  double loss;        ///< > 0, nats
  double loss_error;  ///< standard error of `loss`, infinite where one model says nothing of it
  double auc;
  ProbabilityInterval auc_interval;
};

/// AUC of one noise minus that of another at the same loss; negative means that the first hides more.
struct AucDifference {
  double loss;
  double value;
  double lower, upper;  ///< in [-1, 1]
};

/// Each of `points` beside the line through `reference`, straight in the logarithm of the loss. Points beyond the
/// ends of that line, and points without a loss (NaN), are not compared.
///
/// The interval joins the distances to the ends of both AUC intervals by squares [Newcombe1998, method 10], together
/// with the error of the losses times the slope of the line: approximate, at the confidence of the intervals passed,
/// each point by itself. Between two points of the line the ends of their intervals are interpolated, as if both erred
/// together. Noises trained with the same seeds make it too wide rather than too narrow where they err alike.
///
/// `z` is the normal quantile of that confidence, 1.96 for 0.95.
[[nodiscard]] std::vector<AucDifference> auc_at_equal_loss(const std::vector<LossAndAuc>& points,
                                                           std::vector<LossAndAuc> reference,
                                                           double z);

}  // namespace sfumato::apps
