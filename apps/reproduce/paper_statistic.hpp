#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "sfumato/core/claim.hpp"
#include "sfumato/core/units.hpp"

namespace sfumato::apps {

/// Confidences in the true class of one adjacent pair: T2 replicas x N records of D, the same seed in
/// the same row of both.
struct ConfidencePair {
  Eigen::MatrixXd with;     ///< models trained on D
  Eigen::MatrixXd without;  ///< models trained on D'
};

/// Algorithm 1 of [Borovykh2023]: the share of T2 N records whose confidence ratio p / p' is above
/// e^epsilon, for each pair; divided by T2 N where the paper prints T1 N (Spec §11.1).
///
/// Neither a lower nor an upper bound on delta: it compares two trained models, not two distributions. A
/// trainer that ignores its data gives a large value if the seeds differ, and a revealing one gives 0.
struct PaperStatistic {
  std::vector<double> pairs;  ///< one per pair
  Claimed<double> mean;       ///< estimate of its own expectation, over pairs
  Claimed<double> maximum;    ///< what the paper reports; biased upwards as a maximum
};

/// Throws   InvalidArgument if there is no pair, shapes differ, a pair is empty, or a confidence is not
///          in [0, 1]. A ratio 0 / 0 counts as 1, and p / 0 as infinite.
[[nodiscard]] PaperStatistic paper_statistic(std::span<const ConfidencePair> pairs,
                                             Epsilon epsilon);

}  // namespace sfumato::apps
