#include "sfumato/account/contour/panels.hpp"

#include <algorithm>
#include <cmath>

#include "sfumato/account/contour/numbers.hpp"
#include "sfumato/account/contour/panel_rule.hpp"
#include "sfumato/account/contour/ratio.hpp"
#include "sfumato/account/contour/trapezoid.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/math/special.hpp"

namespace sfumato::panels {
namespace {

using trapezoid::kLogRootTwoPi;
using trapezoid::kNeglected;
using trapezoid::Range;

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
  [[nodiscard]] double on_ellipse(const Ellipse& e) const {
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
  [[nodiscard]] Integrand integrand() const {
    const double end = step.m * (1.5 + s0 + std::max(-s0, 0.0)) + 10.0;
    return {{0.5 * step.m, end},
            [this](double z) {
              return both({z, z});
            },
            [this](Range r) { return both(r); },
            [this](const Ellipse& e) { return on_ellipse(e); }};
  }
  /// What is beyond the end: the density falls at least as fast as it does there.
  [[nodiscard]] double log_tail(double end) const {
    const double density = -0.5 * end * end - kLogRootTwoPi, l = log_ratio(end);
    const double tilt = step.m * (1.0 + s0), other = step.m * std::max(-s0, 0.0);
    return log_add_exp(density + (1.0 + s0) * l - std::log(end - tilt),
                       density - s0 * l - std::log(end - other));
  }
};

/// e^{(s + 1/2) l} for l in (-eps0, eps0).
struct LaplaceDensity {
  LaplaceStep step;
  double s0, reach;

  [[nodiscard]] double most(Range range) const {
    const double t = s0 + 0.5;
    return t * (t > 0.0 ? range.high : range.low);
  }
  [[nodiscard]] Integrand integrand() const {
    return {{-step.eps0, step.eps0},
            [this](double l) { return (s0 + 0.5) * l; },
            [this](Range r) { return most(r); },
            [this](const Ellipse& e) { return most(e.real) + reach * e.height; }};
  }
};

}  // namespace

TiltedLaw tilted_law(const TwoSidedGaussian& step, double s0, double reach) {
  const TwoSided f(step, s0, reach);
  const Integrand integrand = f.integrand();
  const Panels all = placed(integrand, log_relative(step.k));
  LawTerms terms;
  terms.reserve(2 * kPoints * all.panels.size() + 1);
  // The atom at 0: (1 - q)(2 Phi(m/2) - 1).
  const double atom = (1.0 - step.q) * std::erf(0.5 * step.m / std::numbers::sqrt2);
  terms.add(4.0, std::log(atom), 0.0, 0.0, 0.0, 0.0);
  for (const Range& panel : all.panels) {
    for_points(panel, [&](double z, double log_weight) {
      const double l = f.log_ratio(z), base = log_weight - 0.5 * z * z - kLogRootTwoPi;
      const double shift = -2.0 * step.m * std::fabs(z) * std::expm1(-std::fabs(l));
      const double size = 0.5 * z * z + std::fabs(l) + std::fabs(log_weight);
      terms.add(size, base + l, s0 * l, l, std::fabs(l), shift);
      terms.add(size, base, -s0 * l, -l, std::fabs(l), shift);
    });
  }
  const double end = integrand.range.high;
  TiltedLaw law = law_of(terms, all.dropped == 0.0);
  law.error_floor +=
      std::exp(all.log_error - law.cumulant) + std::exp(f.log_tail(end) - law.cumulant);
  law.error_floor += all.dropped * std::exp(all.best - kNeglected - law.cumulant);
  return law;
}

TiltedLaw tilted_law(const LaplaceStep& step, double s0, double reach) {
  const LaplaceDensity f{step, s0, reach};
  const Panels all = placed(f.integrand(), log_relative(step.k));
  const double e = step.eps0;
  LawTerms terms;
  terms.reserve(kPoints * all.panels.size() + 2);
  terms.add(1.0, -std::numbers::ln2, s0 * e, e, e, 0.0);
  terms.add(1.0 + e, -std::numbers::ln2 - e, -s0 * e, -e, e, 0.0);
  for (const Range& panel : all.panels) {
    for_points(panel, [&](double l, double log_weight) {
      const double log_base = log_weight - 2.0 * std::numbers::ln2 - 0.5 * (e - l);
      terms.add(4.0 + e + std::fabs(log_weight), log_base, s0 * l, l, e, 0.0);
    });
  }
  TiltedLaw law = law_of(terms, all.dropped == 0.0);
  const double scale = -2.0 * std::numbers::ln2 - 0.5 * e - law.cumulant;
  law.error_floor += std::exp(all.log_error + scale);
  law.error_floor += all.dropped * std::exp(all.best - kNeglected + scale);
  return law;
}

namespace {
double points(const Integrand& f, double k) {
  const std::size_t count = placed(f, log_relative(k)).panels.size();
  return count > kMostPanels ? kInf : static_cast<double>(kPoints * count);
}
}  // namespace

double points_of(const TwoSidedGaussian& step, double s0, double reach) {
  const TwoSided f(step, s0, reach);
  return 2.0 * points(f.integrand(), step.k);
}

double points_of(const LaplaceStep& step, double s0, double reach) {
  const LaplaceDensity f{step, s0, reach};
  return points(f.integrand(), step.k);
}

}  // namespace sfumato::panels
