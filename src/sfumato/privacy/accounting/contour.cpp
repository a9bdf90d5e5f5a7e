#include "sfumato/privacy/accounting/contour.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <optional>

#include "sfumato/core/error.hpp"
#include "sfumato/core/overloaded.hpp"
#include "sfumato/privacy/accounting/compensated_sum.hpp"
#include "sfumato/privacy/accounting/decay.hpp"
#include "sfumato/privacy/accounting/tilted_law.hpp"

namespace sfumato {
namespace {

using Complex = std::complex<double>;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kPi = std::numbers::pi;
constexpr double kUnit = 0x1p-53;
constexpr double kTarget = 1e-15;  // of the value: what aliases and truncation may add

enum class Strip { right, middle };

double log_add(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == -kInf ? a : a + std::log1p(std::exp(b - a));
}

double normal_cumulant(const TotalLoss& loss, double s) {
  return 0.5 * loss.mu_squared * s * (s + 1.0);
}

/// The exponent of the integrand on the real axis and its derivatives.
struct Exponent {
  double value, first, second;
};
Exponent exponent_at(const TotalLoss& loss, double eps, double s) {
  const TotalCumulant k = cumulant(loss, s);
  return {k.value - s * eps - std::log(std::fabs(s)) - std::log(std::fabs(1.0 + s)),
          k.mean - eps - 1.0 / s - 1.0 / (1.0 + s),
          k.variance + 1.0 / (s * s) + 1.0 / ((1.0 + s) * (1.0 + s))};
}

/// How much a loss may change where its law has one standard deviation, at most.
double steepest_of(const StepLoss& step) {
  return std::visit(Overloaded{[](const SampledGaussian& s) { return s.m; },
                               [](const GroupGaussian& s) { return s.g * s.m; },
                               [](const TwoSidedGaussian& s) { return s.m; },
                               [](const auto& s) { return s.eps0; }},
                    step);
}

/// The largest abscissa that is tried: beyond it the tilted steps are far out.
double highest_abscissa(const TotalLoss& loss) {
  double m = 0.0;
  for (const StepLoss& step : loss.steps) m = std::max(m, steepest_of(step));
  return m > 0.0 ? 3e4 / m : 1e300;
}

/// Where the exponent is least: Newton inside a bracket, in the logarithm of the distance to an end.
double saddle(const TotalLoss& loss, double eps, Strip strip) {
  const double most = highest_abscissa(loss);
  double low = 0.0, high = 0.0;
  if (strip == Strip::right) {
    high = std::min(1.0, most);
    while (high < most && exponent_at(loss, eps, high).first < 0.0) {
      low = high;
      high = std::min(2.0 * high, most);
    }
    if (exponent_at(loss, eps, high).first < 0.0) return most;
  } else {
    low = -1.0;
    high = 0.0;
  }
  double s = strip == Strip::right ? (low == 0.0 ? 0.5 * high : std::sqrt(low * high)) : -0.5;
  for (int i = 0; i < 60; ++i) {
    const Exponent at = exponent_at(loss, eps, s);
    (at.first > 0.0 ? high : low) = s;
    double next = s - at.first / at.second;
    if (!(next > low && next < high)) {
      next = low > 0.0               ? std::sqrt(low * high)
             : strip == Strip::right ? 0.25 * high
                                     : 0.5 * (low + high);
    }
    if (std::fabs(next - s) <= 1e-4 * std::min(std::fabs(s), std::fabs(1.0 + s))) return next;
    s = next;
  }
  return s;
}

/// The period Lam of aliases that keeps them below e^log_target, and what they then add at most.
struct Aliases {
  double period = kInf;
  double log_error = -kInf;
};

/// log of a / (e^{distance period} - 1) for a = e^log_a.
double log_alias(double log_a, double distance, double period) {
  const double x = distance * period;
  return log_a - x - std::log(-std::expm1(-x));
}

Aliases aliases_right(const TotalLoss& loss, double eps, double s0, double variance,
                      double log_target) {
  // Least period for which one kind of alias is below the target, over the places where it may be bounded.
  struct Place {
    double log_a, distance;
  };
  std::vector<Place> above, below;
  const double unit = 1.0 / std::sqrt(variance);
  const auto place = [&](double s) { return Place{log_chernoff(loss, eps, s), std::fabs(s - s0)}; };
  double best_above = kInf, best_below = kInf;
  const auto period_for = [&](const Place& p) {
    return log_add(0.0, p.log_a - (log_target - std::log(2.0))) / p.distance;
  };
  for (const double d : {1.0, 2.0, 4.0, 7.0, 10.0, 15.0, 30.0, 100.0}) {
    if (s0 + d * unit > 1.0001 * highest_abscissa(loss)) break;
    above.push_back(place(s0 + d * unit));
    const double period = period_for(above.back());
    if (period > 1.5 * best_above) break;
    best_above = std::min(best_above, period);
  }
  for (const double d : {1.0, 2.0, 4.0, 7.0, 10.0, 15.0, 30.0, 100.0}) {
    if (s0 - d * unit <= 0.0) break;
    below.push_back(place(s0 - d * unit));
    const double period = period_for(below.back());
    if (period > 1.5 * best_below) break;
    best_below = std::min(best_below, period);
  }
  below.push_back(place(0.0));
  best_below = std::min(best_below, period_for(below.back()));
  Aliases result;
  result.period = std::max(best_above, best_below);
  if (!std::isfinite(result.period)) return result;
  double error_above = kInf, error_below = kInf;
  for (const Place& p : above) {
    error_above = std::min(error_above, log_alias(p.log_a, p.distance, result.period));
  }
  for (const Place& p : below) {
    error_below = std::min(error_below, log_alias(p.log_a, p.distance, result.period));
  }
  result.log_error = log_add(error_above, error_below);
  return result;
}

Aliases aliases_middle(double eps, double s0) {
  const double log_target = std::log(0.5 * kTarget);
  const double period =
      std::max(log_add(0.0, -log_target) / -s0, log_add(0.0, eps - log_target) / (1.0 + s0));
  return {period, log_add(log_alias(0.0, -s0, period), log_alias(eps, 1.0 + s0, period))};
}

/// What the sum over the nodes of a contour comes to, relative to e^log_scale.
struct Sum {
  double log_scale;
  double value;     ///< of the integral for delta (right) or 1 - delta (middle)
  double rounding;  ///< by how much it may be off
  double density;   ///< of T at eps, an upper bound of it up to `rounding`: its kernel is 1
};

/// The steps of a ledger tilted at s0, and the rest of what one contour needs.
struct Line {
  double s0, eps;
  double mu_squared;
  std::vector<StepLoss> steps;
  std::vector<TiltedLaw> laws;

  Line(const TotalLoss& loss, double eps_at, double abscissa, double reach)
      : s0(abscissa), eps(eps_at), mu_squared(loss.mu_squared), steps(loss.steps) {
    for (const StepLoss& step : steps) laws.push_back(tilted_law(step, s0, reach));
  }

  [[nodiscard]] std::size_t nodes() const {
    std::size_t all = 1;
    for (const TiltedLaw& law : laws) all += law.size();
    return all;
  }
  [[nodiscard]] double log_scale() const {
    double sum = 0.5 * mu_squared * s0 * (s0 + 1.0) - s0 * eps;
    for (std::size_t j = 0; j < steps.size(); ++j) sum += count_of(steps[j]) * laws[j].cumulant;
    return sum;
  }
  /// What is left out beyond |y| = reach, at most, relative to the scale (Spec §18.3).
  [[nodiscard]] double log_truncated(double reach) const {
    double sum = -0.5 * mu_squared * reach * reach - std::log(kPi * reach);
    for (std::size_t j = 0; j < steps.size(); ++j) {
      sum +=
          count_of(steps[j]) * (log_bound_beyond(steps[j], laws[j], s0, reach) - laws[j].cumulant);
    }
    return sum;
  }
};

Sum sum_of(const Line& line, Strip strip, double h, double count) {
  const double sign = strip == Strip::right ? 1.0 : -1.0;
  CompensatedSum value, rounding, density;
  for (double n = 0.0; n <= count; ++n) {
    const double y = n * h;
    const Complex s(line.s0, y);
    Complex log_f(-0.5 * line.mu_squared * y * y,
                  (line.mu_squared * (line.s0 + 0.5) - line.eps) * y);
    double log_wide = log_f.real();  // with every |M| as large as it may be
    for (std::size_t j = 0; j < line.steps.size(); ++j) {
      const double k = count_of(line.steps[j]);
      const Complex ratio_log = complex_log1p(line.laws[j].change_at(y));
      log_f += k * ratio_log;
      // log1p: an error below a rounding of 1 counts k times.
      log_wide += k * (ratio_log.real() +
                       std::log1p(line.laws[j].error_at(y) * std::exp(-ratio_log.real())));
    }
    const Complex kernel = 1.0 / (s * (s + 1.0));
    const double modulus = std::exp(log_f.real());
    const Complex f = sign * kernel * std::polar(modulus, log_f.imag());
    const double half = n == 0.0 ? 0.5 : 1.0;
    const double widening = modulus * std::expm1(std::max(log_wide - log_f.real(), 0.0));
    value.add(half * f.real());
    const double ulps = 8.0 * kUnit *
                        (std::abs(s) * std::fabs(line.eps) +
                         std::fabs(line.mu_squared) * std::norm(s) + 10.0 + 0.1 * count);
    rounding.add(half * (widening * std::abs(kernel) + std::abs(f) * ulps));
    density.add(half * (modulus * std::cos(log_f.imag()) + widening + modulus * ulps));
  }
  const double unit = h / kPi;
  return {line.log_scale(), unit * value.value(), unit * rounding.value(), unit * density.value()};
}

/// log(1 - e^x) for x < 0.
double log_complement(double x) {
  if (x >= 0.0) return -kInf;
  return x > -0.6931 ? std::log(-std::expm1(x)) : std::log1p(-std::exp(x));
}

/// The enclosure of one contour; `smoothing` is mu0^2 of the step that was added to the loss.
LogEnclosure along(const TotalLoss& loss, double eps, Strip strip, double work) {
  const double s0 = saddle(loss, eps, strip);
  const Exponent at = exponent_at(loss, eps, s0);
  const TotalCumulant k = cumulant(loss, s0);
  const double log_estimate = at.value - 0.5 * std::log(2.0 * kPi * at.second);
  Aliases alias = strip == Strip::right
                      ? aliases_right(loss, eps, s0, k.variance > 0.0 ? k.variance : 1.0,
                                      log_estimate + std::log(kTarget))
                      : aliases_middle(eps, s0);
  if (!std::isfinite(alias.period)) return {-kInf, kInf};
  const double h = 2.0 * kPi / alias.period;
  const double log_target =
      (strip == Strip::right ? log_estimate : std::max(log_estimate, std::log(kTarget))) +
      std::log(kTarget);
  // How far to go: until what is left out is below the target, or the work is done.
  double reach = std::max(std::sqrt(2.0 * 37.0 / at.second), 2.0 * h);
  TotalLoss smoothed = loss;
  std::optional<Line> line;
  double log_left = kInf, spent = 0.0;
  const auto nodes_at = [&](double y) {
    double nodes = 1.0;
    for (const StepLoss& step : loss.steps) nodes += points_of(step, s0, y);
    return nodes;
  };
  while (reach > 2.0 * h && reach / h * nodes_at(reach) > work) reach *= 0.5;
  for (int i = 0; i < 60; ++i) {
    line.emplace(loss, eps, s0, reach);
    log_left = line->log_truncated(reach) + line->log_scale();
    if (log_left <= log_target) break;
    spent += 20.0 * static_cast<double>(line->nodes());
    if (spent > work || 1.3 * reach / h * nodes_at(1.3 * reach) > work) {
      // A small normal step makes up for the decay that is missing (Spec §18.6).
      const double missing = log_left - log_target;
      const double mu0 = std::sqrt(2.0 * missing) / reach;
      if (!(mu0 <= 0.5)) return {-kInf, kInf};
      smoothed.mu_squared += mu0 * mu0;
      break;
    }
    reach *= 1.3;
  }
  const double mu0_squared = smoothed.mu_squared - loss.mu_squared;
  if (mu0_squared > 0.0) {
    line.emplace(smoothed, eps, s0, reach);
    log_left = line->log_truncated(reach) + line->log_scale();
    if (strip == Strip::right) {
      // The aliases are those of the smoothed loss.
      alias = aliases_right(smoothed, eps, s0, k.variance > 0.0 ? k.variance : 1.0,
                            log_estimate + std::log(kTarget));
      if (!std::isfinite(alias.period)) return {-kInf, kInf};
    }
  }
  const double step = 2.0 * kPi / alias.period;
  const Sum sum = sum_of(*line, strip, step, std::ceil(reach / step));
  const double left = std::exp(log_left - sum.log_scale);
  const double aliased = std::exp(alias.log_error - sum.log_scale);
  // The step that was added makes delta larger by at most (1 + mu0) mu0^2 times the density of T.
  const double slack = mu0_squared > 0.0 ? (1.0 + std::sqrt(mu0_squared)) * mu0_squared *
                                               (std::max(sum.density, 0.0) + left * reach * 2.0)
                                         : 0.0;
  const double low = sum.value - left - sum.rounding, high = sum.value + left + sum.rounding;
  const double guard = 8.0 * kUnit * (10.0 + std::fabs(sum.log_scale) + std::fabs(s0 * eps));
  const auto logarithm = [&](double x) { return x > 0.0 ? sum.log_scale + std::log(x) : -kInf; };
  if (strip == Strip::right) {
    return {logarithm(low - aliased - slack) - guard, logarithm(high) + guard};
  }
  // 1 - delta' is in [low - aliased, high]; delta is at most delta' and at least delta' - slack.
  const double log_rest_low = logarithm(low - aliased) - guard,
               log_rest_high = logarithm(high) + guard;
  const double log_hi = log_complement(log_rest_low);
  const double least = -std::expm1(std::min(log_rest_high, 0.0)) - std::exp(sum.log_scale) * slack;
  return {least > 0.0 ? std::log(least) - 4.0 * kUnit : -kInf, std::min(log_hi + 4.0 * kUnit, 0.0)};
}

}  // namespace

TotalCumulant cumulant(const TotalLoss& loss, double s) {
  TotalCumulant total{normal_cumulant(loss, s) + s * loss.shift,
                      loss.mu_squared * (s + 0.5) + loss.shift, loss.mu_squared, 0.0};
  double size = normal_cumulant(loss, s) + std::fabs(s * loss.shift);
  for (const StepLoss& step : loss.steps) {
    const TiltedLaw law = tilted_law(step, s, 0.0);
    const double k = count_of(step);
    total.value += k * law.cumulant;
    total.mean += k * law.mean;
    total.variance += k * law.variance;
    total.error += k * law.error_at(0.0);
    size += k * std::fabs(law.cumulant);
  }
  total.error += 8.0 * kUnit * (size + 10.0);
  return total;
}

double log_chernoff(const TotalLoss& loss, double eps, double s) {
  const TotalCumulant k = cumulant(loss, s);
  const double c = s == 0.0 ? 0.0 : s * std::log(s) - (1.0 + s) * std::log1p(s);
  return c + k.value + k.error - s * eps + 8.0 * kUnit * std::fabs(s * eps);
}

LogEnclosure contour_delta(const TotalLoss& whole, double eps_of_whole, double work) {
  TotalLoss loss = whole;
  loss.shift = 0.0;
  const double eps = eps_of_whole - whole.shift;
  const double floor = eps < 0.0 ? std::log(-std::expm1(eps)) : -kInf;
  const TotalCumulant start = cumulant(loss, 0.0);
  const double deviation = std::sqrt(std::max(start.variance, 0.0));
  if (eps < 0.0 && eps < start.mean - deviation) {
    // delta(eps) = 1 - e^eps + e^eps delta of the pair exchanged, at -eps.
    const LogEnclosure other = contour_delta(swapped(loss), -eps, work);
    return {log_add(floor, eps + other.log_lo) - 4.0 * kUnit,
            std::min(0.0, log_add(floor, eps + other.log_hi) + 4.0 * kUnit)};
  }
  const Strip strip = eps >= start.mean - deviation ? Strip::right : Strip::middle;
  LogEnclosure found = along(loss, eps, strip, work);
  // Chernoff, which needs no contour; at the best abscissa of the right strip.
  const double s = saddle(loss, eps, Strip::right);
  double chernoff = std::min(0.0, log_chernoff(loss, eps, s));
  // delta(eps) <= delta(0) <= sqrt(KL / 2), which is near the truth where losses are tiny.
  const double pinsker = start.mean > 0.0 ? 0.5 * std::log(0.5 * (start.mean + start.error)) : kInf;
  found.log_hi = std::min({found.log_hi, chernoff, eps >= 0.0 ? pinsker : kInf, 0.0});
  found.log_lo = std::max(found.log_lo, floor);
  if (std::isnan(found.log_hi) || std::isnan(found.log_lo)) {
    throw NumericalFailure("the contour gives no number", "Report the ledger that asked for it");
  }
  if (found.log_lo > found.log_hi + 1e-9) {
    throw InternalError("an enclosure whose ends are exchanged");
  }
  found.log_lo = std::min(found.log_lo, found.log_hi);
  return found;
}

}  // namespace sfumato
