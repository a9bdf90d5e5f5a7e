#include "sfumato/design/spread.hpp"

#include <algorithm>
#include <cmath>

namespace sfumato {

Spread spread_budget(const Eigen::VectorXd& roots, const Eigen::VectorXd& floors, double budget) {
  const Eigen::Index n = roots.size();
  Spread spread{Eigen::VectorXd(n), Eigen::Array<bool, Eigen::Dynamic, 1>::Constant(n, false), 0.0,
                budget, 0.0};
  // Every item that is put to its floor takes more than its share, so the level only rises and an
  // item at its floor never leaves it.
  for (bool changed = true; changed;) {
    changed = false;
    double total = 0.0;
    for (Eigen::Index i = 0; i < n; ++i) total += spread.at_floor(i) ? 0.0 : roots(i);
    spread.level = spread.free_budget > 0.0 ? total / spread.free_budget : HUGE_VAL;
    for (Eigen::Index i = 0; i < n; ++i) {
      if (spread.at_floor(i) || floors(i) == 0.0 || roots(i) >= spread.level * floors(i)) continue;
      spread.at_floor(i) = true;
      spread.free_budget = std::max(0.0, spread.free_budget - floors(i));
      changed = true;
    }
  }
  for (Eigen::Index i = 0; i < n; ++i) {
    const bool free = !spread.at_floor(i) && roots(i) > 0.0;
    spread.shares(i) = free ? roots(i) / spread.level : floors(i);
    if (roots(i) > 0.0) spread.cost += roots(i) * (roots(i) / spread.shares(i));
  }
  return spread;
}

}  // namespace sfumato
