#include "sfumato/answers/rows/ranking.hpp"

#include <algorithm>
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

}  // namespace sfumato
