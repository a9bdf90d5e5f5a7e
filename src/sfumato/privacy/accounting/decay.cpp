#include "sfumato/privacy/accounting/decay.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "sfumato/core/overloaded.hpp"
#include "sfumato/privacy/accounting/compensated_sum.hpp"
#include "sfumato/privacy/accounting/ratio.hpp"
#include "sfumato/privacy/accounting/trapezoid.hpp"

namespace sfumato {
namespace {

using trapezoid::kLogRootTwoPi;
using trapezoid::kUnit;
using trapezoid::Range;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kPi = std::numbers::pi;

/// Theorem T on one line.
class ShiftedLine {
 public:
  ShiftedLine(const RatioStep& step, const TiltedLaw& law, double s0, double reach)
      : step_(step),
        law_(law),
        s0_(s0),
        reach_(reach),
        spacing_(0.5 * trapezoid::spacing_for(step, s0, reach, kInf)),
        parts_(trapezoid::parts_of(step, s0).parts) {}

  [[nodiscard]] double log_bound(double eta) const {
    const double m = step_.ratio.slope(), p = step_.cosine_power(s0_);
    double largest = -kInf, size = 0.0;
    std::vector<double> terms;
    for (const Range& part : parts_) {
      const double last = std::floor(part.high / spacing_);
      for (double i = std::ceil(part.low / spacing_); i <= last; ++i) {
        const double x = i * spacing_;
        const RatioStep::OffAxis at = step_.off_axis(x, eta, s0_);
        terms.push_back(-0.5 * x * x - kLogRootTwoPi + at.log_modulus - reach_ * at.turn);
        largest = std::max(largest, terms.back());
        size = std::max(size, 0.5 * x * x + std::fabs(at.log_modulus) + reach_ * at.turn);
      }
    }
    CompensatedSum sum;
    for (const double term : terms) sum.add(std::exp(term - largest));
    const double log_sum = std::log(spacing_ * sum.value()) + largest + 0.5 * eta * eta;
    const double rounding = 4.0 * kUnit * (10.0 + size);
    // The nodes that were left out, and the tails.
    const double tails =
        std::log(1e-20) + law_.cumulant + 0.5 * eta * eta - p * std::log(std::cos(0.5 * m * eta));
    const double quadrature = log_quadrature(eta);
    const double top = std::max({log_sum, quadrature, tails});
    return top + std::log(std::exp(log_sum - top) * (1.0 + rounding) + std::exp(quadrature - top) +
                          std::exp(tails - top));
  }

 private:
  /// What the rule may be off by: the best strip.
  [[nodiscard]] double log_quadrature(double eta) const {
    const double m = step_.ratio.slope(), g = step_.turns(), p = step_.cosine_power(s0_);
    double best = kInf;
    for (int i = 1; i <= 9; ++i) {
      const double c = 0.1 * i * (kPi / m - eta), exponent = 2.0 * kPi * c / spacing_;
      const double cosines = std::cos(0.5 * m * (eta + c)) * std::cos(0.5 * m * (eta - c));
      if (!(cosines > 0.0)) continue;
      best = std::min(best, std::log(2.0) + law_.cumulant + 0.5 * (c * c + eta * eta) +
                                0.5 * g * m * reach_ * std::max(0.0, c - eta) -
                                0.5 * p * std::log(cosines) - exponent -
                                std::log(-std::expm1(-exponent)));
    }
    return best;
  }

  const RatioStep& step_;
  const TiltedLaw& law_;
  double s0_, reach_, spacing_;
  std::vector<Range> parts_;
};

double bound_of(const RatioStep& step, const TiltedLaw& law, double s0, double reach) {
  const ShiftedLine line(step, law, s0, reach);
  const double widest = 0.8 * kPi / step.ratio.slope();
  const double natural = reach * std::sqrt(law.variance);
  double best = law.cumulant;
  for (const double eta :
       {0.3 * natural, 0.6 * natural, natural, 0.0625 * widest, 0.125 * widest, 0.25 * widest,
        0.4375 * widest, 0.625 * widest, 0.8125 * widest, widest}) {
    if (eta > 0.0 && eta <= widest) best = std::min(best, line.log_bound(eta));
  }
  return best;
}

}  // namespace

double log_bound_beyond(const StepLoss& step, const TiltedLaw& law, double s0, double reach) {
  return std::visit(
      Overloaded{[&](const SampledGaussian& s) { return bound_of(RatioStep(s), law, s0, reach); },
                 [&](const GroupGaussian& s) { return bound_of(RatioStep(s), law, s0, reach); },
                 [&](const auto&) { return law.cumulant; }},
      step);
}

}  // namespace sfumato
