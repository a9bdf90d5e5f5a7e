#include "sfumato/audit/threshold_choice.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <tuple>
#include <vector>

namespace sfumato {
namespace {

/// A place between two neighbouring scores.
struct Cut {
  double threshold;
  double gap;
  TestCounts counts;
};

/// Between `low` and the next larger score `high`; the test takes `high` and refuses `low`.
double between(double low, double high) {
  const double middle = low + 0.5 * (high - low);
  return std::isfinite(middle) && middle > low ? middle : high;
}

/// All cuts, from the highest down.
std::vector<Cut> cuts_of(const ScoreSample& sample) {
  std::vector<double> with = sample.with, without = sample.without;
  std::sort(with.begin(), with.end(), std::greater<>());
  std::sort(without.begin(), without.end(), std::greater<>());
  std::vector<Cut> cuts;
  std::size_t i = 0, j = 0;
  while (true) {
    const bool first = j == without.size() || (i < with.size() && with[i] >= without[j]);
    const double value = first ? with[i] : without[j];
    while (i < with.size() && with[i] == value) ++i;
    while (j < without.size() && without[j] == value) ++j;
    if (i == with.size() && j == without.size()) break;
    const double next = std::max(i < with.size() ? with[i] : -HUGE_VAL,
                                 j < without.size() ? without[j] : -HUGE_VAL);
    cuts.push_back({between(next, value), value - next, {i, with.size(), j, without.size()}});
  }
  return cuts;
}

/// At most about 500 of them: ever sparser from both ends, and evenly.
std::vector<std::size_t> tried(std::size_t size) {
  constexpr std::size_t kAll = 500, kEven = 160;
  std::vector<std::size_t> indices;
  if (size <= kAll) {
    for (std::size_t i = 0; i < size; ++i) indices.push_back(i);
    return indices;
  }
  for (std::size_t step = 0; step < size; step = std::max(step + 1, step + step / 10)) {
    indices.push_back(step);
    indices.push_back(size - 1 - step);
  }
  for (std::size_t i = 0; i < kEven; ++i) indices.push_back(i * size / kEven);
  std::sort(indices.begin(), indices.end());
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
  return indices;
}

double rate(std::uint64_t part, std::uint64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

double best_threshold(const ScoreSample& sample, Delta delta, double alpha) {
  require_scores(sample);
  const std::vector<Cut> cuts = cuts_of(sample);
  if (cuts.empty()) return sample.with.front();
  const Cut* best = &cuts.front();
  std::tuple<double, double, double> best_value(-1.0, 0.0, 0.0);  // below all others
  for (const std::size_t index : tried(cuts.size())) {
    const Cut& cut = cuts[index];
    const TestCounts& counts = cut.counts;
    const double shown = epsilon_lower(rate_bounds(counts, alpha), delta);
    const double advantage = rate(counts.true_positives, counts.positives) -
                             rate(counts.false_positives, counts.negatives);
    const std::tuple value(shown, shown > 0.0 ? 0.0 : advantage, cut.gap);
    if (value > best_value) {
      best = &cut;
      best_value = value;
    }
  }
  return best->threshold;
}

}  // namespace sfumato
