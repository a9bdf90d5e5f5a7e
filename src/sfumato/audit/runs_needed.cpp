#include "sfumato/audit/runs_needed.hpp"

#include <cmath>

#include "sfumato/audit/lower_bounds.hpp"

namespace sfumato {

double epsilon_cap(std::uint64_t runs, Delta delta, double alpha) {
  return epsilon_lower(rate_bounds({runs, runs, 0, runs}, alpha), delta);
}

std::optional<std::uint64_t> runs_to_refute(Epsilon epsilon, Delta delta, double alpha,
                                            const AttackRates& attack) {
  require_probability("attack.tpr", attack.tpr);
  require_probability("attack.fpr", attack.fpr);
  const auto refutes = [&](std::uint64_t runs) {
    const auto n = static_cast<double>(runs);
    // Rounded against the attack, so that the answer does not depend on luck.
    const auto hits = static_cast<std::uint64_t>(std::floor(n * attack.tpr));
    const auto alarms = static_cast<std::uint64_t>(std::ceil(n * attack.fpr));
    const RateBounds rates = rate_bounds({hits, runs, alarms, runs}, alpha);
    return epsilon_lower(rates, delta) > epsilon.nats();
  };
  constexpr std::uint64_t kMost = 10'000'000;
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
  return enough;
}

}  // namespace sfumato
