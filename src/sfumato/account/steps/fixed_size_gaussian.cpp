#include "sfumato/account/steps/fixed_size_gaussian.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

#include "sfumato/account/contour/gauss_legendre.hpp"
#include "sfumato/account/contour/rounding_unit.hpp"
#include "sfumato/account/contour/trapezoidal_rule.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/math/special.hpp"

namespace sfumato {
namespace {

using trapezoidal::kLogRootTwoPi;
using trapezoidal::kNeglected;
using trapezoidal::Range;

/// r^{1+s} and r^{-s} under the normal density, for z > m/2.
struct TwoSided {
  TwoSidedGaussian step;
  MixtureRatio ratio;
  double s0, reach;

  TwoSided(const TwoSidedGaussian& of, double s, double y)
      : step(of), ratio(of.q, of.m, 1), s0(s), reach(y) {}

  [[nodiscard]] double log_ratio(double z) const { return ratio.log_at(z).value; }
  /// d log r / dz, which increases.
  [[nodiscard]] double slope(double z) const {
    const double a = step.m * z - 0.5 * step.m * step.m;
    return step.m / (1.0 + (1.0 - step.q) / step.q * std::exp(-a));
  }
  /// log of phi r^p, at most, on an interval: from its value and its slopes there.
  [[nodiscard]] double most(double p, Range range) const {
    const double middle = 0.5 * (range.low + range.high), half = 0.5 * range.length();
    const double value = -0.5 * middle * middle - kLogRootTwoPi + p * log_ratio(middle);
    const double least = -range.high + p * slope(p > 0.0 ? range.low : range.high);
    const double steepest = -range.low + p * slope(p > 0.0 ? range.high : range.low);
    return value + half * std::max({-least, steepest, 0.0});
  }
  [[nodiscard]] double both(Range range) const {
    return log_add_exp(most(1.0 + s0, range), most(-s0, range));
  }
  [[nodiscard]] double on_ellipse(const gauss_legendre::Ellipse& e) const {
    const double turn = step.m * e.height;
    if (!(turn < 0.98 * kPi)) return kInf;
    // arg r = atan2(v sin, 1 + v cos), v the ratio of the two terms of r.
    const double a = step.m * e.real.high - 0.5 * step.m * step.m;
    const double v = step.q / (1.0 - step.q) * std::exp(std::min(a, 700.0));
    const double argument = turn <= 0.5 * kPi ? std::min(turn, v * std::sin(turn)) : turn;
    const double cosine = -std::max(s0, 0.0) * std::log(std::cos(0.5 * turn));
    return 0.5 * e.height * e.height + reach * argument +
           log_add_exp(most(1.0 + s0, e.real), most(-s0, e.real) + cosine);
  }
  [[nodiscard]] gauss_legendre::Integrand integrand() const {
    const double end = step.m * (1.5 + s0 + std::max(-s0, 0.0)) + 10.0;
    return {{0.5 * step.m, end},
            [this](double z) {
              return both({z, z});
            },
            [this](Range r) { return both(r); },
            [this](const gauss_legendre::Ellipse& e) { return on_ellipse(e); }};
  }
  /// The tail beyond the end: the density falls at least as fast as it does there.
  [[nodiscard]] double log_tail(double end) const {
    const double density = -0.5 * end * end - kLogRootTwoPi, l = log_ratio(end);
    const double tilt = step.m * (1.0 + s0), other = step.m * std::max(-s0, 0.0);
    return log_add_exp(density + (1.0 + s0) * l - std::log(end - tilt),
                       density - s0 * l - std::log(end - other));
  }
};

constexpr double kMostPoints = 2e4;  // of a distribution
constexpr int kMostSteps = 2000;     // along the line
constexpr int kCells = 4096;         // in which a peak is looked for

/// log r(z), z >= m/2, where it is not negative.
double log_ratio(const TwoSidedGaussian& step, double z) {
  const double a = step.m * (z - 0.5 * step.m);
  if (a < 30.0) return std::log1p(step.q * std::expm1(a));
  return a + std::log(step.q) + std::log1p((1.0 - step.q) / step.q * std::exp(-a));
}

/// The largest log of e^{m^2} phi(z + m) r(z)^p / (m q) over z >= m/2, rounded up: in each cell the larger end of either factor.
/// Beyond z = (p - 1) m it falls.
double log_peak(const TwoSidedGaussian& step, double p) {
  const double m = step.m, first = 0.5 * m, last = std::max(first, (p - 1.0) * m);
  const double constant =
      m * m - 0.5 * std::log(2.0 * std::numbers::pi) - std::log(m * step.q) + 1e-9;
  if (last == first) return constant - 0.5 * (first + m) * (first + m);  // r = 1 there
  const double width = (last - first) / kCells;
  double best = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < kCells; ++i) {
    const double left = first + i * width, right = left + 1.001 * width;
    best = std::max(best, p * log_ratio(step, right) - 0.5 * (left + m) * (left + m));
  }
  return constant + best + 1e-12 * std::fabs(p) * m * last;
}

}  // namespace

void TwoSidedGaussian::require_valid() const {
  require_rate(q);
  require_positive_finite("m", m);
}

double TwoSidedGaussian::highest_loss() const { return kInf; }

/// Sampled steps are on both sides: exchanging the pair changes nothing.
double TwoSidedGaussian::expected_sampled() const { return kInf; }

std::optional<Contribution> TwoSidedGaussian::contribution() const { return Contribution{m, m}; }

BoundedStep<TwoSidedGaussian> TwoSidedGaussian::bounded() const {
  return bounded_gaussian(*this, kMostSignal, {q, StepDirection::replace});
}

TiltedDistribution TwoSidedGaussian::tilted_distribution(double s0, double reach) const {
  const TwoSided f(*this, s0, reach);
  const gauss_legendre::Integrand integrand = f.integrand();
  const gauss_legendre::Panels all =
      gauss_legendre::placed(integrand, gauss_legendre::log_relative(k));
  DistributionTerms terms;
  terms.reserve(2 * gauss_legendre::kPoints * all.panels.size() + 1);
  // The atom at 0: (1 - q)(2 Phi(m/2) - 1).
  const double atom = (1.0 - q) * std::erf(0.5 * m / std::numbers::sqrt2);
  terms.add(4.0, std::log(atom), 0.0, 0.0, 0.0, 0.0);
  for (const Range& panel : all.panels) {
    gauss_legendre::for_points(panel, [&](double z, double log_weight) {
      const double l = f.log_ratio(z), base = log_weight - 0.5 * z * z - kLogRootTwoPi;
      const double shift = -2.0 * m * std::fabs(z) * std::expm1(-std::fabs(l));
      const double size = 0.5 * z * z + std::fabs(l) + std::fabs(log_weight);
      terms.add(size, base + l, s0 * l, l, std::fabs(l), shift);
      terms.add(size, base, -s0 * l, -l, std::fabs(l), shift);
    });
  }
  const double end = integrand.range.high;
  TiltedDistribution distribution = distribution_of(terms, all.dropped == 0.0);
  distribution.error_floor += std::exp(all.log_error - distribution.cumulant) +
                              std::exp(f.log_tail(end) - distribution.cumulant);
  distribution.error_floor += all.dropped * std::exp(all.best - kNeglected - distribution.cumulant);
  return distribution;
}

double TwoSidedGaussian::points(double s0, double reach) const {
  const TwoSided f(*this, s0, reach);
  return 2.0 * gauss_legendre::points(f.integrand(), k);
}

DecayBound TwoSidedGaussian::log_bound_beyond(const StepCumulant& here, double s0, double reach,
                                              double enough) const {
  if (!std::isfinite(here.value) || !std::isfinite(here.error)) return {0.0, 0.0};
  // All in units of M(s0).
  const double unit = here.value - here.error;
  const double atom =
      (1.0 - q) * std::erf(0.5 * m / std::numbers::sqrt2) * std::exp(-unit) * (1.0 + 1e-12);
  const double bound = std::max(std::exp(enough), atom + 0.1 * (1.0 - atom));
  if (!(bound < 1.0 && atom < 1.0)) return {0.0, 0.0};
  const double variation = 4.0 * (std::exp(log_peak(*this, 2.0 + s0) - unit) +
                                  std::exp(log_peak(*this, 1.0 - s0) - unit));
  const double far = 1.001 * variation / (bound - atom);
  // E |L| <= sqrt(E L^2). The panels err in E L^2 by at most (largest |L| + pi)^2 times as much as in M.
  const double square = here.variance + here.mean * here.mean;
  const double largest = m * (m * (1.5 + std::fabs(s0)) + 10.0) + 4.0;
  if (!(here.error * largest * largest < 0.01 * square)) return {0.0, 0.0};
  const double steepest = 1.01 * std::sqrt(square);
  if (!std::isfinite(far) || !std::isfinite(steepest)) return {0.0, 0.0};
  double spent = 0.0;
  int steps = 0;
  for (double y = reach; y < far;) {
    const double end = std::min(2.0 * y, 1.001 * far);
    if (!(this->points(s0, end) < kMostPoints)) return {0.0, spent};
    const TiltedDistribution distribution = tilted_distribution(s0, end);
    spent += static_cast<double>(distribution.size());
    while (y < end && y < far) {
      const double here_at_most = std::abs(1.0 + distribution.change_at(y)) * (1.0 + 8.0 * kUnit) +
                                  distribution.error_at(y);
      spent +=
          0.1 * static_cast<double>(distribution.size());  // a tenth of the time of making them
      const double room = bound - here_at_most;
      if (!(room > 1e-9 * y * steepest) || ++steps > kMostSteps) return {0.0, spent};
      y += room / steepest;
    }
  }
  return {std::log(bound) + 4.0 * kUnit, spent};
}

/// Losses above 0 are those of `remove`, losses below 0 those of `add`, and the rest is an atom at 0.
LossDistribution TwoSidedGaussian::loss_distribution() const {
  const Mixture with = {{1.0 - q, 0.0}, {q, m}};
  const double atom = (1.0 - q) * std::erf(0.5 * m / std::numbers::sqrt2);
  const auto beyond = [q = q, m = m, with](double t) {  // t >= 0
    const Crossing at = t == 0.0 ? Crossing{0.5 * m, 0.5 * m} : sampled_crossing(q, m, t);
    return tails_of(with, kStandard, at, false);
  };
  const LossTails all = beyond(0.0);
  return {{{0.0, {atom * (1.0 - 16.0 * kUnit), atom * (1.0 + 16.0 * kUnit)}}},
          [beyond, all](double t) {
            const LossTails outer = beyond(std::fabs(t));
            // P-mass above 0 is that of `remove`, below 0 that of `add`: what one distribution has above, the other has below.
            const auto rest = [](MassBounds side, MassBounds out, MassBounds other) {
              return MassBounds{std::max(0.0, side.lo - out.hi) + other.lo,
                                side.hi - out.lo + other.hi};
            };
            if (t >= 0.0) {
              return LossTails{outer.p_above, rest(all.p_above, outer.p_above, all.q_above),
                               outer.q_above, rest(all.q_above, outer.q_above, all.p_above)};
            }
            return LossTails{rest(all.q_above, outer.q_above, all.p_above), outer.q_above,
                             rest(all.p_above, outer.p_above, all.q_above), outer.p_above};
          }};
}

}  // namespace sfumato
