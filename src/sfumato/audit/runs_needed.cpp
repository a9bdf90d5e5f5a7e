#include "sfumato/audit/runs_needed.hpp"

#include <algorithm>
#include <cmath>

#include "sfumato/audit/lower_bounds.hpp"

namespace sfumato {

double epsilon_cap(std::uint64_t runs, Delta delta, double alpha) {
  return epsilon_lower(rate_bounds({runs, runs, 0, runs}, alpha), delta);
}

std::optional<std::uint64_t> runs_to_refute(
    Epsilon epsilon, Delta delta, const AttackRates& attack,
    const std::function<TestPlan(std::uint64_t models)>& plan) {
  require_probability("attack.tpr", attack.tpr);
  require_probability("attack.fpr", attack.fpr);
  const auto refutes = [&](std::uint64_t models) {
    const auto [runs, alpha] = plan(models);
    if (runs == 0) return false;
    const auto n = static_cast<double>(runs);
    // Rounded against the attack, so that the answer does not depend on luck.
    const auto hits = static_cast<std::uint64_t>(std::floor(n * attack.tpr));
    const auto alarms = static_cast<std::uint64_t>(std::ceil(n * attack.fpr));
    const RateBounds rates = rate_bounds({hits, runs, alarms, runs}, alpha);
    return epsilon_lower(rates, delta) > epsilon.nats();
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
