#include "sfumato/account/contour/single_step_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sfumato/core/infinity.hpp"

namespace sfumato {
namespace {

constexpr double kRounding = 0x1p-48;  // of a few operations

/// P- and Q-probability that the loss of one step exceeds a threshold, at least and at most.
struct Exceeds {
  double p_lo, q_hi;
};
Exceeds exceeds(const LossDistribution& distribution, double threshold) {
  Exceeds result{0.0, 0.0};
  if (distribution.tails) {
    const LossTails at = distribution.tails(threshold);
    result = {at.p_above.lo, at.q_above.hi};
  }
  for (const auto& [loss, mass] : distribution.atoms) {
    if (!(loss > threshold)) continue;
    result.p_lo += mass.lo;
    result.q_hi += LossAtom{loss, mass}.q_mass().hi * (1.0 + kRounding);
  }
  return {std::min(result.p_lo, 1.0), std::min(result.q_hi, 1.0)};
}

/// The positive number up to which `is_below` holds, up to a thousandth; 0 where it is small.
template <class IsBelow>
double last_of(IsBelow&& is_below) {
  double low = std::log(1e-9), high = std::log(1e3);
  while (high - low > 1e-3) {
    const double middle = 0.5 * (low + high);
    (is_below(std::exp(middle)) ? low : high) = middle;
  }
  return low > std::log(1e-9) ? std::exp(low) : 0.0;
}

}  // namespace

SingleStepBounds::SingleStepBounds(const TotalLoss& loss) {
  double sum = 0.0;
  for (const StepLoss& step : loss.steps) {
    steps_.push_back({loss_distribution_of(step), count_of(step)});
    sum += steps_.back().count * std::exp(one_step_delta(steps_.back().distribution, 0.0).log_hi);
  }
  if (loss.mu_squared > 0.0) {
    // 2 Phi(mu/2) - 1
    sum += std::erf(0.5 * std::sqrt(loss.mu_squared) / std::numbers::sqrt2) * (1.0 + kRounding);
  }
  log_variation_ = std::min(0.0, std::log(sum) + kRounding * (1.0 - std::log(sum)));
}

double SingleStepBounds::log_some_sampled(double eps) const {
  double best = -kInf;
  const double factor = std::exp(eps);
  for (double above = std::max(1e-3 * eps, 0x1p-40); above < 64.0; above *= 2.0) {
    double log_none_p = 0.0, log_none_q = 0.0;  // log of the probability that no step exceeds it
    for (const Steps& steps : steps_) {
      const Exceeds one = exceeds(steps.distribution, eps + above);
      log_none_p += steps.count * std::log1p(-one.p_lo);
      log_none_q += steps.count * std::log1p(-one.q_hi);
    }
    const double p = -std::expm1(log_none_p), q = -std::expm1(log_none_q);
    best = std::max(best, p * (1.0 - kRounding) - factor * q * (1.0 + kRounding * (1.0 + eps)));
  }
  return best > 0.0 ? std::log(best) - kRounding : -kInf;
}

double SingleStepBounds::eps_of(double log_target) const {
  return last_of([&](double eps) { return log_some_sampled(eps) > log_target; });
}

double SingleStepBounds::threshold_of(double fpr) const {
  return last_of([&](double threshold) {
    double log_none = 0.0;
    for (const Steps& steps : steps_) {
      log_none += steps.count * std::log1p(-exceeds(steps.distribution, threshold).q_hi);
    }
    return -std::expm1(log_none) > fpr;
  });
}

}  // namespace sfumato
