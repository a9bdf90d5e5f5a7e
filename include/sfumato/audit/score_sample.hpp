#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sfumato/audit/lower_bounds.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato {

/// One score per trained model, larger for models that look trained on D. Entry i of both worlds may
/// come from the same seed; entries of one world are independent.
struct ScoreSample {
  std::vector<double> with;     ///< models of D, which has the record
  std::vector<double> without;  ///< models of D'
};

/// Scores of a world that repeat others of it to the last digit.
struct RepeatedScores {
  bool with_record;     ///< of the models of D, else of D'
  std::size_t scores;   ///< of that world
  std::size_t repeats;  ///< of them, beyond the first of their value
  std::size_t values;   ///< that occur more than once
};

/// An attack's scores, by membership, or why it could not be run.
struct NamedAttack {
  std::string name;
  ScoreSample scores;
  std::string problem = {};
};

/// Throws   InvalidArgument if a world is empty or a score is NaN. Infinite scores are scores.
void require_scores(const ScoreSample& sample, const Where& where = Where::here());

/// One sample from several pairs (D, D'), for replicas that each drew their pair at random.
///
/// Pooled counts bound the worst pair: (eps, delta) for every pair holds on average over the draw, so
/// what the pool shows, some pair has. More power than a correction for the number of pairs.
[[nodiscard]] ScoreSample pooled(std::span<const ScoreSample> pairs);

/// The test "score >= threshold" on every model.
[[nodiscard]] TestCounts counts_from(const ScoreSample& sample, double threshold);

/// How many of so many models choose the threshold: round(fraction n), but at least 1 and at most n - 1.
[[nodiscard]] std::size_t choosing_models(std::size_t models, double fraction);

/// Two parts of a sample, drawn at random by `seed`; entries with the same index stay together, so
/// that the parts are independent even where worlds share seeds.
struct SplitSample {
  ScoreSample choosing;  ///< choosing_models() of those that both worlds have
  ScoreSample fresh;
};
/// Throws   InvalidArgument if a world has fewer than two models, or fraction is not in (0, 1).
[[nodiscard]] SplitSample split(const ScoreSample& sample, double fraction, std::uint64_t seed);

}  // namespace sfumato
