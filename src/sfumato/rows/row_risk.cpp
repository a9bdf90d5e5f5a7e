#include "sfumato/rows/row_risk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "sfumato/rows/row_views.hpp"

namespace sfumato {
namespace {

DirectedRisk views(const Risk& risk, Direction direction, const RowRiskOptions& options) {
  DirectedRisk result;
  const auto kl = risk.kl(direction);
  result.kl = {kl.value.value(), kl.claim};
  result.delta.reserve(options.epsilons.size());
  for (const Epsilon epsilon : options.epsilons) {
    const auto delta = risk.delta(direction, epsilon);
    result.delta.push_back({delta.value.probability(), delta.claim});
  }
  const auto epsilon = risk.epsilon(direction, options.delta);
  result.epsilon = {epsilon.value.nats(), epsilon.claim};
  return result;
}

}  // namespace

std::string_view name(RowStatus status) {
  switch (status) {
    case RowStatus::ok: return "ok";
    case RowStatus::no_model: return "no_model";
    case RowStatus::failed: return "failed";
    case RowStatus::not_computed: return "not_computed";
  }
  throw InternalError(fmt::format("unknown RowStatus {}", static_cast<int>(status)));
}

std::vector<Eigen::Index> rows_to_compute(const RowRiskOptions& options, Eigen::Index rows) {
  std::vector<Eigen::Index> chosen = options.only;
  for (const Eigen::Index row : chosen) {
    if (row >= 0 && row < rows) continue;
    throw InvalidArgument(fmt::format("row {} of a table of {}", row + 1, rows),
                          "Name rows that there are", Where::here("row risks"));
  }
  if (!chosen.empty()) return chosen;
  chosen.resize(static_cast<std::size_t>(rows));
  std::iota(chosen.begin(), chosen.end(), Eigen::Index{0});
  return chosen;
}

void set_views(RowRisk& row, const Risk& risk, const RowRiskOptions& options) {
  const auto advantage = risk.advantage();
  row.advantage = {advantage.value, advantage.claim};
  row.forward = views(risk, Direction::forward, options);
  row.reverse = views(risk, Direction::reverse, options);
  row.status = RowStatus::ok;
}

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
