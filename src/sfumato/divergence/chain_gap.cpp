#include "sfumato/divergence/chain_gap.hpp"

#include <cmath>

#include "sfumato/core/check.hpp"

namespace sfumato {
namespace {

void require_chain(const std::vector<double>& gaps, double lipschitz, const Where& where) {
  require_probability("lipschitz", lipschitz, where);
  for (const double gap : gaps) require_non_negative("gap", gap, where);
}

}  // namespace

std::optional<double> chain_bound_second_form(const std::vector<double>& gaps, double lipschitz) {
  require_chain(gaps, lipschitz, Where::here());
  if (gaps.empty()) return 0.0;
  double sum = 0.0;
  double squares = 0.0;
  for (const double gap : gaps) {
    sum = lipschitz * sum + gap;
    squares = lipschitz * lipschitz * squares + 1.0;
  }
  // The shifts al_j = c^{k-1-j} sum / squares must leave every z_j >= 0. z_k = 0 identically. No
  // tolerance: a z that rounding turns negative only costs the tighter form.
  const auto count = static_cast<double>(gaps.size());
  double z = 0.0;
  for (std::size_t j = 0; j + 1 < gaps.size(); ++j) {
    const double shift = std::pow(lipschitz, count - 1.0 - static_cast<double>(j)) * sum / squares;
    z = gaps[j] + lipschitz * z - shift;
    if (!(z >= 0.0)) return std::nullopt;
  }
  return 0.5 * sum * sum / squares;
}

}  // namespace sfumato
