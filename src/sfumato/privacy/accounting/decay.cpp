#include "sfumato/privacy/accounting/decay.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "sfumato/core/overloaded.hpp"
#include "sfumato/privacy/accounting/compensated_sum.hpp"
#include "sfumato/privacy/accounting/ratio.hpp"
#include "sfumato/privacy/accounting/trapezoid.hpp"
#include "sfumato/privacy/accounting/two_sided_decay.hpp"

namespace sfumato {
namespace {

using trapezoid::kLogRootTwoPi;
using trapezoid::kUnit;
using trapezoid::Range;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kPi = std::numbers::pi;
constexpr double kMostPoints = 5e4;  // of one line
// The quadrature may cost e^-14 of what k steps multiply: it moves the bound of all by 1e-6 nats.
constexpr double kLogPrecision = 14.0;

/// What is integrated along the lines: M, or with a cut B = share M.
struct Part {
  double share = 1.0;
  double spread = 1.0;  ///< what eta^2 / 2 is multiplied by
  const Cut* cut = nullptr;
};

/// Theorem T on lines at one abscissa; everything relative to M(s0).
class ShiftedLines {
 public:
  ShiftedLines(const RatioStep& step, const StepCumulant& here, const Part& part, double s0,
               double reach)
      : step_(step),
        here_(here),
        part_(part),
        s0_(s0),
        reach_(reach),
        parts_(trapezoid::parts_of(step, s0).parts) {}

  [[nodiscard]] double log_bound(double eta) {
    const double spacing = spacing_for(eta);
    double length = 0.0;
    for (const Range& part : parts_) length += part.length();
    if (!(length / spacing < kMostPoints)) return kInf;
    points_ += length / spacing;
    const double log_sum = log_sum_on(eta, spacing);
    const double p = step_.cosine_power(s0_), m = step_.ratio.slope();
    // The nodes that were left out, and the tails.
    const double tails =
        log_tails() + 0.5 * eta * eta * part_.spread - p * std::log(std::cos(0.5 * m * eta));
    const double quadrature = log_quadrature(eta, spacing);
    const double top = std::max({log_sum, quadrature, tails});
    return top + here_.error +
           std::log(std::exp(log_sum - top) + std::exp(quadrature - top) + std::exp(tails - top));
  }
  [[nodiscard]] double points() const { return points_; }

 private:
  /// Of a cut what is above counts, and below what the cut leaves.
  [[nodiscard]] double log_tails() const {
    if (!part_.cut) return std::log(1e-20);
    const double low = trapezoid::range_of(step_, s0_).low;
    return std::log(std::exp(trapezoid::log_above(step_, s0_) - here_.value) +
                    1.1e-21 * part_.cut->hit(low) + 1e-300);
  }

  /// log of the sum over the line, rounded up.
  [[nodiscard]] double log_sum_on(double eta, double spacing) {
    const MixtureRatio::Shift shift = step_.ratio.shift(eta);
    double largest = -kInf, size = 0.0;
    terms_.clear();
    for (const Range& part : parts_) {
      const double last = std::floor(part.high / spacing);
      for (double i = std::ceil(part.low / spacing); i <= last; ++i) {
        const double x = i * spacing;
        const RatioStep::OffAxis at = step_.off_axis(x, shift, s0_);
        const double hit = part_.cut ? std::log(std::max(part_.cut->hit(x), 1e-300)) : 0.0;
        terms_.push_back(-0.5 * x * x + at.log_modulus - reach_ * at.turn + hit);
        largest = std::max(largest, terms_.back());
        size = std::max(size, 0.5 * x * x + std::fabs(at.log_modulus) + reach_ * at.turn);
      }
    }
    CompensatedSum sum;
    for (const double term : terms_) sum.add(std::exp(term - largest));
    const double rounding = 4.0 * kUnit * (10.0 + size + std::fabs(here_.value));
    return std::log(spacing * sum.value()) + largest - kLogRootTwoPi +
           0.5 * eta * eta * part_.spread - here_.value + rounding;
  }

  /// The exponent of the error of the rule in a strip of height c, without the spacing; +inf where the strip is too high.
  [[nodiscard]] double log_strip(double eta, double c) const {
    const double m = step_.ratio.slope(), g = step_.turns(), p = step_.cosine_power(s0_);
    const double cosines = std::cos(0.5 * m * (eta + c)) * std::cos(0.5 * m * (eta - c));
    if (!(cosines > 0.0)) return kInf;
    return std::log(2.0 * part_.share) + 0.5 * (c * c + eta * eta) * part_.spread +
           0.5 * g * m * reach_ * std::max(0.0, c - eta) - 0.5 * p * std::log(cosines);
  }
  [[nodiscard]] double height(double eta, int i) const {
    return 0.1 * i * std::min(kPi / step_.ratio.slope() - eta, 14.0);
  }
  [[nodiscard]] double spacing_for(double eta) const {
    // Of a cut only the sum of all hits counts, and it decays far.
    const double precision = part_.cut ? 3.0 * kLogPrecision : kLogPrecision + std::log(step_.k);
    double best = 0.0;
    for (int i = 1; i <= 9; ++i) {
      const double c = height(eta, i);
      best =
          std::max(best, 2.0 * kPi * c / (log_strip(eta, c) - std::log(part_.share) + precision));
    }
    return best;
  }
  [[nodiscard]] double log_quadrature(double eta, double spacing) const {
    double best = kInf;
    for (int i = 1; i <= 9; ++i) {
      const double c = height(eta, i), exponent = 2.0 * kPi * c / spacing;
      best = std::min(best, log_strip(eta, c) - exponent - std::log(-std::expm1(-exponent)));
    }
    return best;
  }

  const RatioStep& step_;
  StepCumulant here_;
  Part part_;
  double s0_, reach_;
  std::vector<Range> parts_;
  std::vector<double> terms_;
  double points_ = 0.0;
};

/// The line at `natural`, then lower or higher ones as long as they are better.
DecayBound best_line(ShiftedLines& lines, double natural, double widest, double none,
                     double enough) {
  constexpr double kStep = 0.6;
  if (!(natural > 0.0)) return {none, 0.0};
  const double start = lines.log_bound(natural);
  double best = std::min(none, start), last = start;
  bool improved = false;
  for (double eta = kStep * natural; best > enough && eta > 1e-4 * widest; eta *= kStep) {
    const double found = lines.log_bound(eta);
    if (!(found < last)) break;
    improved = true;
    last = found;
    best = std::min(best, found);
  }
  last = start;
  for (double eta = natural / kStep; !improved && best > enough && eta <= widest; eta /= kStep) {
    const double found = lines.log_bound(eta);
    if (!(found < last)) break;
    last = found;
    best = std::min(best, found);
  }
  return {best, lines.points()};
}

double widest_of(const RatioStep& step) { return 0.8 * kPi / step.ratio.slope(); }

DecayBound bound_of(const RatioStep& step, const StepCumulant& here, double s0, double reach,
                    double enough) {
  ShiftedLines lines(step, here, {}, s0, reach);
  // A loss that is linear in z decays best there.
  const double natural = std::min(reach * std::sqrt(here.variance), widest_of(step));
  return best_line(lines, natural, widest_of(step), 0.0, enough);
}

}  // namespace

DecayBound log_bound_beyond(const StepLoss& step, const StepCumulant& here, double s0, double reach,
                            double enough) {
  const auto of_ratio = [&](const RatioStep& s) { return bound_of(s, here, s0, reach, enough); };
  return std::visit(Overloaded{[&](const SampledGaussian& s) { return of_ratio(RatioStep(s)); },
                               [&](const GroupGaussian& s) { return of_ratio(RatioStep(s)); },
                               [&](const TwoSidedGaussian& s) {
                                 return log_bound_beyond(s, here, s0, reach, enough);
                               },
                               [](const auto&) {
                                 return DecayBound{0.0, 0.0};
                               }},
                    step);
}

DecayBound log_hit_beyond(const RatioStep& step, const Cut& cut, const CutCumulant& here, double s0,
                          double reach, double enough) {
  ShiftedLines lines(step, here.all, {here.hit, cut.spread(), &cut}, s0, reach);
  const double natural =
      std::min(reach * std::sqrt(here.hit_variance) / cut.spread(), widest_of(step));
  return best_line(lines, natural, widest_of(step), std::log(here.hit), enough);
}

}  // namespace sfumato
