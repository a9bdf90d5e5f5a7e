#pragma once

#include <cstdint>
#include <span>

#include "reproduce/paper_statistic.hpp"
#include "sfumato/audit/proportion_intervals.hpp"

namespace sfumato::apps {

/// How far the paper's statistic moves when pairs and replicas are drawn again.
struct StatisticIntervals {
  ProbabilityInterval mean;     ///< of the pairs
  ProbabilityInterval maximum;  ///< of the pairs; a bootstrap cannot see beyond the largest seen
};

/// Percentile bootstrap over pairs, and over the replicas of each: models are the unit, records of one
/// model are not independent (Spec §11.1). Describes the statistic, which is no estimate of delta.
/// A pure function of its arguments.
///
/// Throws   InvalidArgument as paper_statistic(), or if confidence is not in (0, 1).
[[nodiscard]] StatisticIntervals statistic_intervals(std::span<const ConfidencePair> pairs,
                                                     Epsilon epsilon, double confidence,
                                                     std::uint64_t seed);

}  // namespace sfumato::apps
