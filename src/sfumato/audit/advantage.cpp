#include "sfumato/audit/advantage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "sfumato/audit/proportion_intervals.hpp"
#include "sfumato/audit/roc.hpp"

namespace sfumato {
namespace {

/// Wilson's score interval.
ProbabilityInterval wilson(std::uint64_t successes, std::uint64_t trials, double z) {
  const auto n = static_cast<double>(trials);
  const double p = static_cast<double>(successes) / n;
  const double centre = p + z * z / (2.0 * n);
  const double width = z * std::sqrt(p * (1.0 - p) / n + z * z / (4.0 * n * n));
  const double scale = 1.0 + z * z / n;
  return {std::max(0.0, (centre - width) / scale), std::min(1.0, (centre + width) / scale)};
}

TestCounts operator+(const TestCounts& a, const TestCounts& b) {
  return {a.true_positives + b.true_positives, a.positives + b.positives,
          a.false_positives + b.false_positives, a.negatives + b.negatives};
}

/// The best threshold of a sample, halfway to the next score below: where worlds are far apart, the lowest
/// score of those seen would miss the lowest of those to come.
double best_threshold(const ScoreSample& sample) {
  const Roc roc(sample);
  const double best = roc.best_point().threshold;
  double below = -std::numeric_limits<double>::infinity();
  for (const RocPoint& point : roc.points()) {
    if (point.threshold < best) below = std::max(below, point.threshold);
  }
  const double middle = below + 0.5 * (best - below);
  return std::isfinite(middle) ? middle : best;
}

}  // namespace

AdvantageEstimate advantage_of(const TestCounts& counts, double confidence) {
  if (!(confidence > 0.0 && confidence < 1.0)) {
    throw InvalidArgument(fmt::format("confidence = {} is not between 0 and 1", confidence),
                          "Pass a probability such as 0.95");
  }
  if (counts.positives == 0 || counts.negatives == 0 || counts.true_positives > counts.positives ||
      counts.false_positives > counts.negatives) {
    throw InvalidArgument("one of D and D' has no model, or fewer than its events",
                          "Pass counts of both");
  }
  const double z = std::numbers::sqrt2 * boost::math::erfc_inv(1.0 - confidence);
  const double tpr =
      static_cast<double>(counts.true_positives) / static_cast<double>(counts.positives);
  const double fpr =
      static_cast<double>(counts.false_positives) / static_cast<double>(counts.negatives);
  const ProbabilityInterval with = wilson(counts.true_positives, counts.positives, z);
  const ProbabilityInterval without = wilson(counts.false_positives, counts.negatives, z);
  const double value = tpr - fpr;
  return {value, std::max(-1.0, value - std::hypot(tpr - with.lower, without.upper - fpr)),
          std::min(1.0, value + std::hypot(with.upper - tpr, fpr - without.lower))};
}

AdvantageEstimate cross_fitted_advantage(const ScoreSample& sample, double confidence,
                                         std::uint64_t seed) {
  const SplitSample halves = split(sample, 0.5, seed);
  return advantage_of(counts_from(halves.fresh, best_threshold(halves.choosing)) +
                          counts_from(halves.choosing, best_threshold(halves.fresh)),
                      confidence);
}

}  // namespace sfumato
