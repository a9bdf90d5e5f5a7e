#include "sfumato/privacy/accounting/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "sfumato/core/error.hpp"
#include "sfumato/divergence/gdp.hpp"
#include "sfumato/privacy/accounting/split.hpp"

namespace sfumato {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kUnit = 0x1p-53;
constexpr double kNarrow = 1e-8;  // of the value: no other method is asked

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

LogEnclosure around(double value, double relative) {
  if (!(value > 0.0)) return {-kInf, -kInf};
  return {std::log(value) - relative, std::log(value) + relative};
}

/// One step alone in closed form (Spec §17.6), where it keeps its digits.
std::optional<LogEnclosure> single_step(const TotalLoss& loss, double eps) {
  if (loss.mu_squared > 0.0 || loss.steps.size() != 1 || count_of(loss.steps.front()) != 1.0)
    return {};
  const auto* only = std::get_if<SampledGaussian>(&loss.steps.front());
  if (!only) return {};
  const auto [q, m, k, direction] = *only;
  double first = 0.0, second = 0.0;
  if (direction == StepDirection::remove) {
    if (std::exp(eps) <= 1.0 - q) return around(-std::expm1(eps), 8.0 * kUnit);
    const double z = std::log1p(std::expm1(eps) / q) / m + 0.5 * m;
    first = q * normal_cdf(m - z);
    second = (q + std::expm1(eps)) * normal_cdf(-z);
  } else if (direction == StepDirection::add) {
    if (std::expm1(-eps) / q <= -1.0) return {};
    const double z = std::log1p(std::expm1(-eps) / q) / m + 0.5 * m;
    first = std::exp(eps) * q * (normal_cdf(z) - normal_cdf(z - m));
    second = std::expm1(eps) * normal_cdf(z);
  } else {
    return {};
  }
  const double value = first - second;
  const double terms = std::max(std::fabs(first), std::fabs(second));
  if (!(value > 1e-6 * terms)) return {};
  // What cancels, and the arguments of the normal distribution function, cost digits.
  return around(value, 64.0 * kUnit * (1.0 + m + 1.0 / m) * terms / value);
}

/// What needs no integral.
std::optional<LogEnclosure> edge(const TotalLoss& loss, double eps) {
  if (eps == kInf) return LogEnclosure{-kInf, -kInf};
  if (eps == -kInf) return LogEnclosure{0.0, 0.0};
  if (loss.steps.empty()) {
    if (loss.mu_squared == 0.0) {
      return eps >= 0.0 ? LogEnclosure{-kInf, -kInf} : around(-std::expm1(eps), 4.0 * kUnit);
    }
    const GdpDelta g = gdp_delta(std::sqrt(loss.mu_squared), eps);
    const double rounding = 1e-12 + 1e-15 * std::fabs(g.log_delta);
    return LogEnclosure{g.log_delta - rounding, std::min(0.0, g.log_delta + rounding)};
  }
  if (eps >= highest_loss(loss) * (1.0 + 8.0 * kUnit)) return LogEnclosure{-kInf, -kInf};
  return single_step(loss, eps);
}

LogEnclosure intersected(const LogEnclosure& a, const LogEnclosure& b) {
  const LogEnclosure both{std::max(a.log_lo, b.log_lo), std::min(a.log_hi, b.log_hi)};
  if (both.log_lo > both.log_hi + 1e-12) {
    throw InternalError(fmt::format("two enclosures of a delta exclude each other ({} > {})",
                                    both.log_lo, both.log_hi));
  }
  return {std::min(both.log_lo, both.log_hi), both.log_hi};
}

bool is_narrow(const LogEnclosure& log) { return log.log_hi - log.log_lo < kNarrow; }

}  // namespace

double DeltaEnclosure::lo() const {
  if (log.log_lo == -kInf) return 0.0;
  const double value = std::exp(log.log_lo);
  return std::max(0.0, value * (1.0 - 4.0 * kUnit * (1.0 + std::fabs(log.log_lo))));
}

double DeltaEnclosure::hi() const {
  if (log.log_hi == -kInf) return 0.0;
  const double value = std::exp(log.log_hi);
  const double up = value * (1.0 + 4.0 * kUnit * (1.0 + std::fabs(log.log_hi)));
  return std::min(1.0, std::max(up, std::numeric_limits<double>::denorm_min()));
}

namespace {

/// Without failure and shift.
DeltaEnclosure delta_of_rest(const TotalLoss& loss, double eps) {
  if (const auto found = edge(loss, eps)) return {*found, DeltaMethod::edge};
  DeltaEnclosure result{contour_delta(loss, eps), DeltaMethod::contour};
  if (is_narrow(result.log)) return result;
  if (const auto split = split_delta(loss, eps)) {
    result.log = intersected(result.log, *split);
    result.method = DeltaMethod::split;
  }
  return result;
}

/// log(e^a + e^b).
double log_add(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == -kInf ? a : a + std::log1p(std::exp(b - a));
}

}  // namespace

DeltaEnclosure delta_of(const TotalLoss& loss, double eps) {
  require_valid(loss);
  if (std::isnan(eps)) throw InvalidArgument("eps is not a number", "Pass an epsilon");
  if (loss.log_survival == -kInf) return {{0.0, 0.0}, DeltaMethod::edge};
  TotalLoss rest = loss;
  rest.log_survival = rest.shift = 0.0;
  DeltaEnclosure result = delta_of_rest(rest, eps - loss.shift);
  if (loss.shift != 0.0) {
    // The threshold has a rounding, and log delta a slope that is at most 1 + what Chernoff's exponent is: take neighbours.
    const double ulp = 4.0 * kUnit * (std::fabs(eps) + std::fabs(loss.shift));
    result.log.log_hi = delta_of_rest(rest, eps - loss.shift - ulp).log.log_hi;
    result.log.log_lo = delta_of_rest(rest, eps - loss.shift + ulp).log.log_lo;
  }
  if (loss.log_survival < 0.0) {
    const double log_failure = std::log(-std::expm1(loss.log_survival));
    result.log = {
        log_add(log_failure, loss.log_survival + result.log.log_lo) - 8.0 * kUnit,
        std::min(0.0, log_add(log_failure, loss.log_survival + result.log.log_hi) + 8.0 * kUnit)};
  }
  return result;
}

EpsilonEnclosure epsilon_of(const TotalLoss& loss, double delta) {
  if (!(delta >= 0.0 && delta < 1.0)) {
    throw InvalidArgument(fmt::format("delta = {} is not in [0, 1)", delta), "Pass a probability");
  }
  if (delta < -std::expm1(loss.log_survival) * (1.0 - 4.0 * kUnit)) return {kInf, kInf};
  const double target = std::log(delta);
  const auto upper = [&](double eps) { return delta_of(loss, eps).log.log_hi; };
  if (delta > 0.0 && upper(0.0) <= target) return {0.0, 0.0};
  if (delta == 0.0) {
    const double highest = loss.log_survival < 0.0 ? kInf : std::max(0.0, highest_loss(loss));
    return {highest * (1.0 - 8.0 * kUnit), highest * (1.0 + 8.0 * kUnit)};
  }
  // A bracket, then regula falsi on the logarithm, which is nearly a parabola; the safe ends are kept.
  double low = 0.0, f_low = upper(0.0) - target, high = 1.0, f_high = upper(high) - target;
  while (f_high > 0.0 && high < 1e6) {
    low = high;
    f_low = f_high;
    high *= 2.0;
    f_high = upper(high) - target;
  }
  if (f_high > 0.0) return {0.0, kInf};
  for (int i = 0; i < 100 && high - low > 1e-12 * high; ++i) {
    double next =
        std::isfinite(f_high) ? low + (high - low) * f_low / (f_low - f_high) : 0.5 * (low + high);
    const double least = 1e-3 * (high - low);
    if (i % 3 == 2) next = 0.5 * (low + high);
    next = std::clamp(next, low + least, high - least);
    const double value = upper(next) - target;
    if (value > 0.0) {
      low = next;
      f_low = value;
    } else {
      high = next;
      f_high = value;
    }
  }
  // From below: where even the lower end of delta is above the target.
  double least = low;
  for (double step = std::max(high - low, 1e-12 * high); least > 0.0; step *= 4.0) {
    if (delta_of(loss, least).log.log_lo > target) return {least, high};
    least = std::max(0.0, least - step);
  }
  return {0.0, high};
}

}  // namespace sfumato
