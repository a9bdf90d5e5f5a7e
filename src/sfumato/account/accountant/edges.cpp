#include "sfumato/account/accountant/edges.hpp"

#include <algorithm>
#include <cmath>

#include "sfumato/account/accountant/one_step.hpp"
#include "sfumato/account/contour/numbers.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/core/overloaded.hpp"
#include "sfumato/divergence/gdp.hpp"
#include "sfumato/math/special.hpp"

namespace sfumato {
namespace {

constexpr LogEnclosure kNothing{-kInf, -kInf};

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

LogEnclosure around(double value, double relative) {
  if (!(value > 0.0)) return kNothing;
  return {std::log(value) - relative, std::log(value) + relative};
}

/// Doubles lose digits below 2.2e-308, and a factor e^eps makes what was lost count: closed forms in probabilities are for normal tails
/// that are at least this large, whatever delta is (Spec §17.6).
constexpr double kLeastTail = 1e-290;

/// first - second, where digits are left; sizes are what each was computed from, z how far out, and `tail` the smallest probability
/// that either was made of.
std::optional<LogEnclosure> difference(double first, double second, double size, double z,
                                       double tail) {
  const double value = first - second;
  if (!(value > 1e-6 * size) || !(tail >= kLeastTail) || !std::isfinite(size)) return std::nullopt;
  // erfc has an argument with roundings of z, and a logarithm with a slope of z.
  return around(value, 4.0 * kUnit * (16.0 + (1.0 + z) * (1.0 + z)) * size / value);
}

/// q Phi(m - z) - (q + expm1(eps)) Phi(-z), z where the loss is eps, by logarithms: the factor of the second term grows like e^eps while its
/// probability falls below all doubles.
std::optional<LogEnclosure> removal(double q, double m, double eps) {
  if (!(std::expm1(eps) / q > -0.9)) return std::nullopt;
  // log((q + expm1(eps)) / q); the second form does not overflow, and has no cancellation for eps > 0.
  const double log_factor = eps > 30.0 ? eps + std::log1p((q - 1.0) * std::exp(-eps)) - std::log(q)
                                       : std::log1p(std::expm1(eps) / q);
  const double z = log_factor / m + 0.5 * m;
  const double log_first = std::log(q) + log_normal_cdf(m - z);
  const double log_second = std::log(q) + log_factor + log_normal_cdf(-z);
  const double left = -std::expm1(log_second - log_first);  // of the first term
  if (!(left > 1e-6) || !std::isfinite(log_first)) return std::nullopt;
  // z and m - z have roundings of |z| + m, and log Phi a slope of as much; |log_factor| <= (|z| + m)^2.
  const double far = 1.0 + std::fabs(z) + m;
  const double rounding = 16.0 * kUnit * (16.0 + far * far + std::fabs(std::log(q))) * 2.0 / left;
  const double value = log_first + std::log(left);
  return LogEnclosure{value - rounding, std::min(0.0, value + rounding)};
}

std::optional<LogEnclosure> one_step(const SampledGaussian& step, double eps) {
  const double q = step.q, m = step.m;
  if (step.direction == StepDirection::remove) {
    if (std::exp(eps) <= (1.0 - q) * (1.0 - 4.0 * kUnit)) {
      return around(-std::expm1(eps), 8.0 * kUnit);
    }
    return removal(q, m, eps);
  }
  if (step.direction == StepDirection::add) {
    const double ratio = std::expm1(-eps) / q;
    if (!(ratio > -0.9)) return std::nullopt;
    const double z = std::log1p(ratio) / m + 0.5 * m;
    const double near = normal_cdf(z), far = normal_cdf(z - m);
    return difference(std::exp(eps) * q * (near - far), std::expm1(eps) * near,
                      std::exp(eps) * q * near + std::fabs(std::expm1(eps)) * near,
                      std::fabs(z) + m, std::min({near, far, q * (near - far)}));
  }
  return std::nullopt;
}

std::optional<LogEnclosure> one_step(const LaplaceStep& step, double eps) {
  if (eps <= -step.eps0) return around(-std::expm1(eps), 8.0 * kUnit);
  return around(-std::expm1(0.5 * (eps - step.eps0)),
                8.0 * kUnit * (2.0 + (std::fabs(eps) + step.eps0) / (step.eps0 - eps)));
}

std::optional<LogEnclosure> one_step(const RandomisedResponse& step, double eps) {
  if (eps <= -step.eps0) return around(-std::expm1(eps), 8.0 * kUnit);
  // (e^eps0 - e^eps) / (1 + e^eps0)
  return around(-std::expm1(eps - step.eps0) / (1.0 + std::exp(-step.eps0)),
                8.0 * kUnit * (2.0 + (std::fabs(eps) + step.eps0) / (step.eps0 - eps)));
}

}  // namespace

std::optional<LogEnclosure> edge_delta(const TotalLoss& loss, double eps) {
  if (eps == kInf) return kNothing;
  if (eps == -kInf) return LogEnclosure{0.0, 0.0};
  if (loss.steps.empty()) {
    if (loss.mu_squared == 0.0) {
      return eps >= 0.0 ? kNothing : around(-std::expm1(eps), 4.0 * kUnit);
    }
    const GdpDelta g = gdp_delta(std::sqrt(loss.mu_squared), eps);
    const double rounding = 1e-12 + 1e-15 * std::fabs(g.log_delta);
    return LogEnclosure{g.log_delta - rounding, std::min(0.0, g.log_delta + rounding)};
  }
  const double highest = highest_loss(loss);
  if (eps >= highest + 8.0 * kUnit * std::fabs(highest)) return kNothing;
  if (loss.mu_squared > 0.0 || loss.steps.size() != 1 || count_of(loss.steps.front()) != 1.0) {
    return std::nullopt;
  }
  const auto closed =
      std::visit(Overloaded{[&](const SampledGaussian& s) { return one_step(s, eps); },
                            [&](const LaplaceStep& s) { return one_step(s, eps); },
                            [&](const RandomisedResponse& s) { return one_step(s, eps); },
                            [](const auto&) { return std::optional<LogEnclosure>(); }},
                 loss.steps.front());
  const LogEnclosure by_tails = one_step_delta(loss_law_of(loss.steps.front()), eps);
  return closed ? intersected(*closed, by_tails) : by_tails;
}

}  // namespace sfumato
