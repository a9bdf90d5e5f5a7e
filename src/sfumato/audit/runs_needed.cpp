#include "sfumato/audit/runs_needed.hpp"

#include <algorithm>
#include <cmath>

#include "sfumato/core/check.hpp"

namespace sfumato {

double maximum_epsilon(std::uint64_t runs, Delta delta, double alpha) {
  return epsilon_lower(rate_bounds({runs, runs, 0, runs}, alpha), delta);
}

TestCounts expected_counts(std::uint64_t models, const AttackRates& attack) {
  require_probability("attack.tpr", attack.tpr);
  require_probability("attack.fpr", attack.fpr);
  const auto n = static_cast<double>(models);
  return {static_cast<std::uint64_t>(std::floor(n * attack.tpr)), models,
          static_cast<std::uint64_t>(std::ceil(n * attack.fpr)), models};
}

std::optional<std::uint64_t> runs_to_refute(
    Epsilon epsilon, Delta delta,
    const std::function<std::vector<PlannedTest>(std::uint64_t models)>& plan) {
  const auto refutes = [&](std::uint64_t models) {
    const std::vector<PlannedTest> tests = plan(models);
    return std::any_of(tests.begin(), tests.end(), [&](const PlannedTest& test) {
      return epsilon_lower(rate_bounds(test.counts, test.alpha), delta) > epsilon.nats();
    });
  };
  constexpr std::uint64_t kMost = 10'000'000, kFew = 400;
  std::uint64_t enough = 1;
  while (!refutes(enough)) {
    if (enough >= kMost) return std::nullopt;
    enough *= 2;
  }
  std::uint64_t too_few = enough / 2;  // 0 when one is enough
  while (enough - too_few > 1) {
    const std::uint64_t middle = too_few + (enough - too_few) / 2;
    (refutes(middle) ? enough : too_few) = middle;
  }
  // Among few models one more can mean another test, and a smaller level for each.
  for (std::uint64_t few = 1; few < std::min(enough, kFew); ++few) {
    if (refutes(few)) return few;
  }
  return enough;
}

}  // namespace sfumato
