#include "sfumato/account/contour/ratio_quadrature.hpp"

#include <algorithm>
#include <cmath>

#include "sfumato/account/contour/gauss_legendre.hpp"
#include "sfumato/account/contour/rounding_unit.hpp"
#include "sfumato/account/contour/trapezoidal_rule.hpp"
#include "sfumato/core/infinity.hpp"

namespace sfumato::gauss_legendre {
namespace {

using trapezoidal::kLogRootTwoPi;
using trapezoidal::kNeglected;
using trapezoidal::Range;

constexpr double kFew = 400.0;  // points of the trapezoidal rule: it is quicker to place

/// phi, and phi times the powers of r(z) and r(-z) that the transform of a step has at s0.
class TiltedDensity {
 public:
  TiltedDensity(const RatioStep& step, double s0, double reach)
      : step_(step),
        reach_(reach),
        power_(step.direction == StepDirection::add ? -s0 : 1.0 + s0),
        mirrored_power_(-s0),
        is_mirrored_(step.direction == StepDirection::replace) {}

  /// log of the larger of the two, at most.
  [[nodiscard]] double most_on(Range range) const { return on_ellipse({range, 0.0}); }

  [[nodiscard]] double on_ellipse(const Ellipse& e) const {
    const double turn = step_.ratio.slope() * e.height;
    if (!(turn < 0.98 * kPi)) return kInf;
    const double nearest = std::clamp(0.0, e.real.low, e.real.high);
    double exponent = of_power(power_, e.real, turn), argument = argument_at(e.real.high, turn);
    if (is_mirrored_) {
      exponent += of_power(mirrored_power_, {-e.real.high, -e.real.low}, turn);
      argument += argument_at(-e.real.low, turn);
    }
    return 0.5 * (e.height * e.height - nearest * nearest) - kLogRootTwoPi +
           std::max(exponent, 0.0) + reach_ * argument;
  }

 private:
  /// log |r|^p, at most: r increases along the real axis. Off it |r|^2 = r^2 (1 - 4 w (1 - w) sin^2(turn/2)), w being the share of the sampled step.
  [[nodiscard]] double of_power(double p, Range range, double turn) const {
    if (p >= 0.0) return p * step_.ratio.log_at(range.high).value;
    const double share = std::min(step_.ratio.sampled_share(range.high), 0.5);
    const double sine = std::sin(0.5 * turn);
    return p * (step_.ratio.log_at(range.low).value +
                0.5 * std::log1p(-4.0 * share * (1.0 - share) * sine * sine));
  }
  /// arg r, at most, for a real part of x or less: atan2(v sin, 1 + v cos) with the odds v of the sampled step.
  [[nodiscard]] double argument_at(double x, double turn) const {
    if (turn > 0.5 * kPi) return turn;
    const double share = step_.ratio.sampled_share(x);
    return share < 0.5 ? std::min(turn, share / (1.0 - share) * std::sin(turn)) : turn;
  }

  const RatioStep& step_;
  double reach_, power_, mirrored_power_;
  bool is_mirrored_;
};

Integrand integrand_of(const TiltedDensity& f, Range range) {
  return {range,
          [&f](double z) {
            return f.most_on({z, z});
          },
          [&f](Range r) { return f.most_on(r); },
          [&f](const Ellipse& e) { return f.on_ellipse(e); }};
}

}  // namespace

double points_of(const RatioStep& step, double s0, double reach) {
  // Twenty points are enough for as many radians where the density is largest, and for more where it is e^-depth of that.
  const TiltedDensity density(step, s0, 0.0);
  constexpr double kCell = 0.5;
  double sum = 0.0;
  for (const Range& part : trapezoidal::parts_of(step, s0).parts) {
    double best = -kInf;
    for (double z = part.low; z < part.high; z += kCell)
      best = std::max(best, density.most_on({z, z}));
    for (double z = part.low; z < part.high; z += kCell) {
      const double depth = best - density.most_on({z, z});
      const double wanted = std::max(0.0, 44.0 + std::log(step.k) - depth);
      const double half_turn = 80.0 * std::exp(-1.0 - wanted / 40.0);
      const double turn = reach * std::fabs(step.loss_at(z + kCell).loss - step.loss_at(z).loss);
      sum += kPoints * (kCell + 0.5 * turn / half_turn);
    }
  }
  return sum;
}

bool are_fewer(const RatioStep& step, double s0, double reach) {
  if (!step.ratio.is_of_one_record()) return false;
  const double others = trapezoidal::points_of(step, s0, reach);
  return others > kFew && points_of(step, s0, reach) < 0.5 * others;
}

TiltedDistribution tilted_distribution(const RatioStep& step, double s0, double reach) {
  const TiltedDensity density(step, s0, reach);
  const Panels all =
      placed(integrand_of(density, trapezoidal::range_of(step, s0)), log_relative(step.k));
  const double m = step.ratio.slope();
  DistributionTerms terms;
  terms.reserve(kPoints * all.panels.size());
  for (const Range& panel : all.panels) {
    for_points(panel, [&](double z, double log_weight) {
      const RatioStep::Loss at = step.loss_at(z);
      terms.add(0.5 * z * z + std::fabs(log_weight), log_weight - 0.5 * z * z - kLogRootTwoPi,
                at.log_density + s0 * at.loss, at.loss, at.size,
                -2.0 * m * std::fabs(z) * std::expm1(-std::fabs(at.loss)));
    });
  }
  TiltedDistribution distribution = distribution_of(terms, all.dropped == 0.0);
  // The panels are off in M(s0), in M(s0 + iy), and in the 1 that is subtracted from each.
  distribution.error_floor += 2.2e-21 + 4.0 * std::exp(all.log_error - distribution.cumulant) +
                              all.dropped * std::exp(all.best - kNeglected - distribution.cumulant);
  return distribution;
}

}  // namespace sfumato::gauss_legendre

namespace sfumato {

TiltedDistribution tilted_distribution_of(const RatioStep& step, double s0, double reach) {
  return gauss_legendre::are_fewer(step, s0, reach)
             ? gauss_legendre::tilted_distribution(step, s0, reach)
             : trapezoidal::tilted_distribution(step, s0, reach);
}

double fewest_points_of(const RatioStep& step, double s0, double reach) {
  return gauss_legendre::are_fewer(step, s0, reach) ? gauss_legendre::points_of(step, s0, reach)
                                                    : trapezoidal::points_of(step, s0, reach);
}

}  // namespace sfumato
