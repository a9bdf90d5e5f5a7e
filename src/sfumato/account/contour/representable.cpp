#include "sfumato/account/contour/representable.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sfumato/account/accountant/merged.hpp"
#include "sfumato/core/overloaded.hpp"

namespace sfumato {
namespace {

constexpr double kMostSignal =
    100.0;  // m: two records are 100 standard deviations apart, e^-1250 of the noise confuses them
constexpr double kLeastSignal = 1e-60;   // m, q and eps0
constexpr double kMostLoss = 1e4;        // of one Laplace step
constexpr double kMostNormal = 1e8;      // mu^2
constexpr double kLeastNormal = 1e-100;  // mu^2

/// Keeps what is within reach; otherwise what bounds it from both sides.
struct Bounding {
  RepresentableLoss* result;

  void keep(const StepLoss& step) const {
    result->lower.steps.push_back(step);
    result->upper.steps.push_back(step);
  }
  /// q, m and the contribution of all records of a Gaussian; no noise at all is `noiseless` of the rate.
  template <class Step>
  void gaussian(Step step, double largest_m, double rate, StepDirection direction) const {
    if (step.q >= kLeastSignal && step.m >= kLeastSignal && step.m <= largest_m) return keep(step);
    result->is_exact = false;
    if (step.m > largest_m) {
      add_noiseless(result->upper, rate, step.k, direction);
      step.m = largest_m;
      result->lower.steps.push_back(step);
      return;
    }
    step.q = std::max(step.q, kLeastSignal);
    step.m = std::max(step.m, kLeastSignal);
    result->upper.steps.push_back(step);
  }
  /// eps0 of steps whose loss is bounded by it.
  template <class Step>
  void bounded(Step step) const {
    if (step.eps0 >= kLeastSignal && step.eps0 <= kMostLoss) return keep(step);
    result->is_exact = false;
    if (step.eps0 > kMostLoss) {
      add_noiseless(result->upper, 1.0, step.k, StepDirection::replace);
      step.eps0 = kMostLoss;
      result->lower.steps.push_back(step);
    } else {
      step.eps0 = kLeastSignal;
      result->upper.steps.push_back(step);
    }
  }
};

}  // namespace

RepresentableLoss representable(const TotalLoss& loss) {
  RepresentableLoss result{
      {{}, loss.mu_squared, loss.log_survival, loss.shift, loss.observer}, {}, true};
  result.upper = result.lower;
  const Bounding bounding{&result};
  for (const StepLoss& step : loss.steps) {
    std::visit(Overloaded{[&](const SampledGaussian& s) {
                            bounding.gaussian(s, kMostSignal, s.q, s.direction);
                          },
                          [&](const GroupGaussian& s) {
                            bounding.gaussian(s, kMostSignal / s.g,
                                              -std::expm1(s.g * std::log1p(-s.q)), s.direction);
                          },
                          [&](const TwoSidedGaussian& s) {
                            bounding.gaussian(s, kMostSignal, s.q, StepDirection::replace);
                          },
                          [&](const auto& s) { bounding.bounded(s); }},
               step);
  }
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
