#include "sfumato/account/accountant/closed_form.hpp"

#include <algorithm>
#include <cmath>

#include "sfumato/account/contour/rounding_unit.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/gdp.hpp"

namespace sfumato {
namespace {

constexpr LogEnclosure kNothing{-kInf, -kInf};

}  // namespace

std::optional<LogEnclosure> closed_form_delta(const TotalLoss& loss, double eps) {
  if (eps == kInf) return kNothing;
  if (eps == -kInf) return LogEnclosure{0.0, 0.0};
  if (loss.steps.empty()) {
    if (loss.mu_squared == 0.0) {
      return eps >= 0.0 ? kNothing : log_around(-std::expm1(eps), 4.0 * kUnit);
    }
    const GdpDelta g = gdp_delta(std::sqrt(loss.mu_squared), eps);
    const double rounding = 1e-12 + 1e-15 * std::fabs(g.log_delta);
    return LogEnclosure{g.log_delta - rounding, std::min(0.0, g.log_delta + rounding)};
  }
  const double highest = highest_loss(loss);
  if (eps >= highest + 8.0 * kUnit * std::fabs(highest)) return kNothing;
  if (loss.mu_squared > 0.0 || loss.steps.size() != 1 || count_of(loss.steps.front()) != 1.0 ||
      !has_distribution(loss.steps.front())) {
    return std::nullopt;
  }
  const auto closed =
      std::visit([&](const auto& s) { return s.one_step_delta(eps); }, loss.steps.front());
  const LogEnclosure by_tails = one_step_delta(loss_distribution_of(loss.steps.front()), eps);
  return closed ? intersected(*closed, by_tails) : by_tails;
}

}  // namespace sfumato
