#include "sfumato/account/contour/computable_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sfumato/account/accountant/merged.hpp"

namespace sfumato {
namespace {

constexpr double kMostNormal = 1e8;      // mu^2
constexpr double kLeastNormal = 1e-100;  // mu^2

}  // namespace

ComputableBounds computable_bounds(const TotalLoss& loss) {
  ComputableBounds result{
      {{}, loss.mu_squared, loss.log_survival, loss.shift, loss.observer}, {}, true};
  result.upper = result.lower;
  const auto add = [&](const auto& step) {
    const auto ends = step.bounded();
    result.is_exact = result.is_exact && ends.is_exact;
    if (ends.lower) result.lower.steps.push_back(*ends.lower);
    if (ends.upper) result.upper.steps.push_back(*ends.upper);
    if (ends.disclosed) {
      add_noiseless(result.upper, ends.disclosed->rate, step.k, ends.disclosed->direction);
    }
  };
  for (const StepLoss& step : loss.steps) std::visit(add, step);
  if (loss.steps.size() > kMergedKinds) {
    result.is_exact = false;
    result.upper.steps = merged(result.upper.steps, Merge::up);
    result.lower.steps = merged(result.lower.steps, Merge::down);
  }
  const double mu = loss.mu_squared;
  if (!loss.steps.empty() && mu > 0.0 && !(mu >= kLeastNormal && mu <= kMostNormal)) {
    result.is_exact = false;
    if (mu > kMostNormal) result.upper.log_survival = -std::numeric_limits<double>::infinity();
    result.lower.mu_squared = mu > kMostNormal ? kMostNormal : 0.0;
    result.upper.mu_squared = mu > kMostNormal ? 0.0 : kLeastNormal;
  }
  return result;
}

}  // namespace sfumato
