#include "sfumato/rows/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace sfumato {

std::vector<const RowRisk*> computed(const std::vector<RowRisk>& risks) {
  std::vector<const RowRisk*> list;
  for (const RowRisk& risk : risks) {
    if (risk.status == RowStatus::ok) list.push_back(&risk);
  }
  return list;
}

std::vector<const RowRisk*> riskiest(const std::vector<RowRisk>& risks, std::size_t count) {
  std::vector<const RowRisk*> rows = computed(risks);
  count = std::min(count, rows.size());
  const auto rank = [](const RowRisk* r) {
    return std::tuple(-r->advantage.value, -std::max(r->forward.kl.value, r->reverse.kl.value),
                      r->row);
  };
  std::partial_sort(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(count), rows.end(),
                    [&](const RowRisk* a, const RowRisk* b) { return rank(a) < rank(b); });
  rows.resize(count);
  return rows;
}

RiskNumber larger(const RiskNumber& a, const RiskNumber& b) {
  const bool bounded = a.claim == Claim::upper_bound || b.claim == Claim::upper_bound;
  return {std::max(a.value, b.value), bounded ? Claim::upper_bound : Claim::exact};
}

RiskNumber quantile(const std::vector<RowRisk>& risks,
                    const std::function<RiskNumber(const RowRisk&)>& of, double level) {
  std::vector<RiskNumber> values;
  for (const RowRisk* risk : computed(risks)) values.push_back(of(*risk));
  const double position = std::ceil(level * static_cast<double>(values.size())) - 1.0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::max(0.0, position));
  std::nth_element(values.begin(), at, values.end(),
                   [](const RiskNumber& a, const RiskNumber& b) { return a.value < b.value; });
  return *at;
}

}  // namespace sfumato
