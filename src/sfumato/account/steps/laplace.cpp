#include "sfumato/account/steps/laplace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "sfumato/account/contour/gauss_legendre.hpp"
#include "sfumato/account/contour/rounding_unit.hpp"
#include "sfumato/account/contour/total_loss.hpp"
#include "sfumato/account/contour/trapezoidal_rule.hpp"

namespace sfumato {
namespace {

using trapezoidal::kNeglected;
using trapezoidal::Range;

/// a / b, not below: the largest loss is an end of epsilon itself.
double quotient_up(double a, double b) {
  const double quotient = a / b;
  return std::fma(quotient, b, -a) < 0.0
             ? std::nextafter(quotient, std::numeric_limits<double>::infinity())
             : quotient;
}

/// e^{(s + 1/2) l} for l in (-eps0, eps0).
struct LaplaceDensity {
  LaplaceStep step;
  double s0, reach;

  [[nodiscard]] double most(Range range) const {
    const double t = s0 + 0.5;
    return t * (t > 0.0 ? range.high : range.low);
  }
  [[nodiscard]] gauss_legendre::Integrand integrand() const {
    return {{-step.eps0, step.eps0},
            [this](double l) { return (s0 + 0.5) * l; },
            [this](Range r) { return most(r); },
            [this](const gauss_legendre::Ellipse& e) { return most(e.real) + reach * e.height; }};
  }
};

}  // namespace

void LaplaceStep::require_valid() const { require_positive_finite("eps0", eps0); }

TiltedDistribution LaplaceStep::tilted_distribution(double s0, double reach) const {
  const LaplaceDensity f{*this, s0, reach};
  const gauss_legendre::Panels all =
      gauss_legendre::placed(f.integrand(), gauss_legendre::log_relative(k));
  const double e = eps0;
  DistributionTerms terms;
  terms.reserve(gauss_legendre::kPoints * all.panels.size() + 2);
  terms.add(1.0, -std::numbers::ln2, s0 * e, e, e, 0.0);
  terms.add(1.0 + e, -std::numbers::ln2 - e, -s0 * e, -e, e, 0.0);
  for (const Range& panel : all.panels) {
    gauss_legendre::for_points(panel, [&](double l, double log_weight) {
      const double log_base = log_weight - 2.0 * std::numbers::ln2 - 0.5 * (e - l);
      terms.add(4.0 + e + std::fabs(log_weight), log_base, s0 * l, l, e, 0.0);
    });
  }
  TiltedDistribution distribution = distribution_of(terms, all.dropped == 0.0);
  const double scale = -2.0 * std::numbers::ln2 - 0.5 * e - distribution.cumulant;
  distribution.error_floor += std::exp(all.log_error + scale);
  distribution.error_floor += all.dropped * std::exp(all.best - kNeglected + scale);
  return distribution;
}

double LaplaceStep::points(double s0, double reach) const {
  const LaplaceDensity f{*this, s0, reach};
  return gauss_legendre::points(f.integrand(), k);
}

/// The loss is (1 - 2x) eps0 for x in (0, 1), where the noise is between the two answers, and +- eps0 outside.
LossDistribution LaplaceStep::loss_distribution() const {
  const double e = eps0;
  const double small = 0.5 * std::exp(-e);
  const auto exactly = [](double x) {
    return with_digits({x * (1.0 - 8.0 * kUnit), x * (1.0 + 8.0 * kUnit)});
  };
  return {{{e, exactly(0.5)}, {-e, exactly(small)}}, [=](double t) {
            const double inside = std::clamp(t, -e, e);
            // P(L > t, no atom) = P(0 < x < (1 - t/e)/2), x being the noise over its scale times e.
            const auto part = [=](double from, double to) {  // of e^-y over y in (from, to), halved
              const double value = -0.5 * std::exp(-from) * std::expm1(from - to);
              const double off = 8.0 * kUnit * (value * (1.0 + e) + std::exp(-from) * e);
              return with_digits({std::max(0.0, value - off), value + off});
            };
            const double place = 0.5 * (e - inside), mirror = 0.5 * (e + inside);
            return LossTails{part(0.0, place), part(place, e), part(mirror, e), part(0.0, mirror)};
          }};
}

std::optional<LogEnclosure> LaplaceStep::one_step_delta(double eps) const {
  if (eps <= -eps0) return log_around(-std::expm1(eps), 8.0 * kUnit);
  return log_around(-std::expm1(0.5 * (eps - eps0)),
                    8.0 * kUnit * (2.0 + (std::fabs(eps) + eps0) / (eps0 - eps)));
}

std::string MechanismRules<LaplaceNoise>::describe(const LaplaceNoise& noise,
                                                   const PrivateRelease& release) {
  return fmt::format("Laplace noise, noise multiplier {}, {}, {}", noise.noise_multiplier,
                     sampling_text(release), count_text(release));
}

void MechanismRules<LaplaceNoise>::compose(const LaplaceNoise& noise, const ReleaseSetting& setting,
                                           TotalLoss& loss) {
  if (noise.noise_multiplier == 0.0) {
    add_noiseless(loss, 1.0, setting.steps(), setting.direction);
  } else {
    loss.steps.push_back(
        LaplaceStep{quotient_up(setting.reach(), noise.noise_multiplier), setting.steps()});
  }
}

PrivateRelease MechanismRules<LaplaceNoise>::read(ReleaseReader& reader) {
  PrivateRelease release{LaplaceNoise{reader.multiplier()}};
  release.sampler = reader.fields.sampler.value_or(Sampler::full);
  release.steps = reader.steps(1.0);
  return release;
}

}  // namespace sfumato
