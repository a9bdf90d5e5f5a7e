#include "sfumato/account/steps/sampled_gaussian.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sfumato/account/contour/ratio_quadrature.hpp"
#include "sfumato/account/contour/rounding_unit.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/math/special.hpp"

namespace sfumato {
namespace {

RatioStep ratio_of(const SampledGaussian& s) {
  return {MixtureRatio(s.q, s.m, 1), s.direction, s.k};
}

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

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
  return log_around(value, 4.0 * kUnit * (16.0 + (1.0 + z) * (1.0 + z)) * size / value);
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

/// Where log r(z) - log r(-z) is t, for r of SampledGaussian: with x = e^{m z - t/2} the equation is
/// x - 1/x = 2 (1 - q)/q e^{m^2/2} sinh(t/2).
Crossing replaced_crossing(double q, double m, double t) {
  const double half = 0.5 * std::fabs(t);
  const double log_factor = std::log((1.0 - q) / q) + 0.5 * m * m;
  const double log_sinh = half > 20.0 ? half - std::numbers::ln2 : std::log(std::sinh(half));
  const double log_argument = log_factor + log_sinh;
  double turn = 0.0;
  if (t == 0.0) return {0.0, 0.0};
  if (log_argument > 30.0) {
    turn = log_argument + std::numbers::ln2;  // asinh(e^x) = x + log 2 + O(e^-2x)
  } else {
    turn = std::asinh((1.0 - q) / q * std::exp(0.5 * m * m) * std::sinh(half));
  }
  const double z = std::copysign((half + turn) / m, t);
  const double relative = 16.0 * kUnit * (1.0 + m * m);  // of the argument, and so of asinh at most
  return crossing_near(
      z, (std::min(turn, 1.0) * relative +
          16.0 * kUnit *
              (half + turn +
               (log_argument > 30.0 ? 1.0 + m * m + std::fabs(std::log((1.0 - q) / q)) : 0.0))) /
                 m +
             8.0 * kUnit * std::fabs(z));
}

}  // namespace

void SampledGaussian::require_valid() const {
  require_rate(q);
  require_positive_finite("m", m);
}

double SampledGaussian::highest_loss() const {
  return direction == StepDirection::add ? -std::log1p(-q) : kInf;
}

SampledGaussian SampledGaussian::exchanged() const {
  return {q, m, k, sfumato::exchanged(direction)};
}

std::optional<Contribution> SampledGaussian::contribution() const {
  return Contribution{m, direction == StepDirection::replace ? 2.0 * m : m};
}

BoundedStep<SampledGaussian> SampledGaussian::bounded() const {
  return bounded_gaussian(*this, kMostSignal, {q, direction});
}

/// `add` tilts away from the sampled steps.
double SampledGaussian::steepest() const {
  return direction == StepDirection::add ? m * std::clamp(10.0 * q, 1e-9, 1.0) : m;
}

std::optional<RatioStep> SampledGaussian::as_ratio() const { return ratio_of(*this); }

TiltedDistribution SampledGaussian::tilted_distribution(double s0, double reach) const {
  return tilted_distribution_of(ratio_of(*this), s0, reach);
}

double SampledGaussian::points(double s0, double reach) const {
  return fewest_points_of(ratio_of(*this), s0, reach);
}

DecayBound SampledGaussian::log_bound_beyond(const StepCumulant& here, double s0, double reach,
                                             double enough) const {
  return sfumato::log_bound_beyond(ratio_of(*this), here, s0, reach, enough);
}

LossDistribution SampledGaussian::loss_distribution() const {
  const Mixture with = {{1.0 - q, 0.0}, {q, m}};
  switch (direction) {
    case StepDirection::remove:
      return {{}, [q = q, m = m, with](double t) {
                return tails_of(with, kStandard, sampled_crossing(q, m, t), false);
              }};
    case StepDirection::add:
      return {{}, [q = q, m = m, with](double t) {
                return tails_of(kStandard, with, sampled_crossing(q, m, -t), true);
              }};
    case StepDirection::replace: {
      const Mixture other = {{1.0 - q, 0.0}, {q, -m}};
      return {{}, [q = q, m = m, with, other](double t) {
                return tails_of(with, other, replaced_crossing(q, m, t), false);
              }};
    }
  }
  throw InternalError("a direction without a loss");
}

std::optional<LogEnclosure> SampledGaussian::one_step_delta(double eps) const {
  if (direction == StepDirection::remove) {
    if (std::exp(eps) <= (1.0 - q) * (1.0 - 4.0 * kUnit)) {
      return log_around(-std::expm1(eps), 8.0 * kUnit);
    }
    return removal(q, m, eps);
  }
  if (direction == StepDirection::add) {
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

}  // namespace sfumato
