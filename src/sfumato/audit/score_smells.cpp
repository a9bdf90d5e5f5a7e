#include "sfumato/audit/score_smells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "sfumato/audit/roc.hpp"

namespace sfumato {
namespace {

std::vector<double> sorted(std::vector<double> scores) {
  std::sort(scores.begin(), scores.end());
  return scores;
}

/// No multiple of a round number: six significant digits do not write it down.
bool looks_continuous(double score) {
  // Not std::stod, which throws where a number is subnormal.
  return std::isfinite(score) &&
         std::strtod(fmt::format("{:.5e}", score).c_str(), nullptr) != score;
}

struct Repeats {
  std::size_t scores = 0;  ///< beyond the first of their value
  std::size_t values = 0;
  std::size_t copies = 0;  ///< the greatest divisor of how often the values occur
  std::size_t distinct = 0;
};

Repeats repeats_of(const std::vector<double>& world) {
  const std::vector<double> scores = sorted(world);
  Repeats repeats;
  for (std::size_t i = 0, end = 0; i < scores.size(); i = end) {
    end = i + 1;
    while (end < scores.size() && scores[end] == scores[i]) ++end;
    repeats.copies = std::gcd(repeats.copies, end - i);
    ++repeats.distinct;
    if (end - i == 1 || !looks_continuous(scores[i])) continue;
    repeats.scores += end - i - 1;
    ++repeats.values;
  }
  return repeats;
}

}  // namespace

bool same_scores(const ScoreSample& sample) {
  if (sample.with == sample.without) return true;
  const std::vector<double> scores = sorted(sample.with);
  const auto repeats = std::count_if(scores.begin() + 1, scores.end(),
                                     [last = scores.front()](double score) mutable {
                                       const bool same = score == last;
                                       last = score;
                                       return same;
                                     });
  return static_cast<std::size_t>(2 * repeats) < scores.size() && scores.size() > 3 &&
         scores == sorted(sample.without);
}

std::optional<RepeatedScores> repeated_scores(const ScoreSample& sample) {
  for (const bool with_record : {true, false}) {
    const std::vector<double>& world = with_record ? sample.with : sample.without;
    const Repeats repeats = repeats_of(world);
    // The same scores several times over, however few digits they have. Of rounded scores twelve values occur
    // an even number of times each by chance once in 4,000 audits.
    // A world of a single value is no chance either, unless it is a whole number, where attacks saturate.
    const bool one_value =
        repeats.distinct == 1 && world.size() >= 12 && world.front() != std::round(world.front());
    if ((repeats.copies > 1 && repeats.distinct >= 12) || one_value) {
      const std::size_t others = world.size() - world.size() / repeats.copies;
      return RepeatedScores{with_record, world.size(), others, repeats.distinct};
    }
    if (repeats.values < 2 || 50 * repeats.scores < world.size()) continue;
    return RepeatedScores{with_record, world.size(), repeats.scores, repeats.values};
  }
  return std::nullopt;
}

bool scores_reversed(const ScoreSample& sample) {
  if (sample.with.empty() || sample.without.empty()) return false;
  const Roc roc(sample);
  return auc_interval(roc.auc(), roc.members(), roc.non_members(), 0.999).upper < 0.5;
}

}  // namespace sfumato
