#include "sfumato/account/contour/transform_decay.hpp"

#include <algorithm>
#include <cmath>

#include "sfumato/account/contour/compensated_sum.hpp"
#include "sfumato/account/contour/density_ratio.hpp"
#include "sfumato/account/contour/rounding_unit.hpp"
#include "sfumato/account/contour/trapezoidal_rule.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/math/special.hpp"

namespace sfumato {
namespace {

using trapezoidal::kLogRootTwoPi;
using trapezoidal::Range;

constexpr double kMostPoints = 5e4;  // of one line
// The quadrature may cost e^-14 of what k steps multiply: it moves the bound of all by 1e-6 nats.
constexpr double kLogPrecision = 14.0;
constexpr double kBending = 300.0;  // powers of r, times its slope, from which on that is looked at

/// The integrand along the lines: M, or with a cut B = share M.
struct Part {
  double share = 1.0;
  double spread = 1.0;  ///< what eta^2 / 2 is multiplied by
  const SplitPoint* cut = nullptr;
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
        grows_(step.direction == StepDirection::add && step.ratio.is_of_one_record() &&
               s0 * step.ratio.slope() > kBending),
        // Parts are where M is: far out, sampled steps are e^-60 of it and all of B, and every point counts.
        parts_(part.cut ? std::vector<Range>{trapezoidal::range_of(step, s0)}
                        : trapezoidal::parts_of(step, s0).parts) {}

  [[nodiscard]] double log_bound(double eta) {
    const double spacing = spacing_for(eta);
    double length = 0.0;
    for (const Range& part : parts_) length += part.length();
    if (!(length / spacing < kMostPoints)) return kInf;
    points_ += length / spacing;
    // On the line z + i eta the argument of r makes e^{-y arg r} of what only turns on the real axis: |M(s0 + iy)| is at most the integral of the
    // modulus there. A sum stands for the integral; what the rule and the points left out may add to it comes on top.
    const double log_sum = log_sum_on(eta, spacing);
    const double p = step_.cosine_power(s0_), m = step_.ratio.slope();
    // The nodes that were left out, and the tails.
    const double tails =
        0.5 * eta * eta * part_.spread +
        (grows_ ? log_growth_tails(eta, eta) : log_tails() - p * std::log(std::cos(0.5 * m * eta)));
    const double quadrature = log_quadrature(eta, spacing);
    const double top = std::max({log_sum, quadrature, tails});
    return top + here_.error +
           std::log(std::exp(log_sum - top) + std::exp(quadrature - top) + std::exp(tails - top));
  }
  [[nodiscard]] double points() const { return points_; }

 private:
  /// With a cut what is above counts, and below what the cut leaves; no point in between is left out.
  [[nodiscard]] double log_tails() const {
    // A point that was left out has less than e^-60 of the largest density.
    if (!part_.cut) return std::log(1e-20 + 9e-27 * trapezoidal::range_of(step_, s0_).length());
    const double low = trapezoidal::range_of(step_, s0_).low;
    return std::log(std::exp(trapezoidal::log_above(step_, s0_) - here_.value) +
                    1.1e-21 * part_.cut->sampled(low) + 1e-300);
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
        const double sampled = part_.cut ? std::log(std::max(part_.cut->sampled(x), 1e-300)) : 0.0;
        terms_.push_back(-0.5 * x * x + at.log_modulus - reach_ * at.turn + sampled);
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

  /// Off the axis |r|^-s0 is larger by a factor that is far from 1 only where sampled steps have a share w of r, |r|^2 / r^2 being
  /// 1 - 4 w (1 - w) sin^2(turn/2): its log, at most, for real parts up to x and the height eta.
  [[nodiscard]] double log_growth(double x, double eta) const {
    const double share = std::min(step_.ratio.sampled_share(x), 0.5);
    const double sine = std::sin(0.5 * step_.ratio.slope() * eta);
    return -0.5 * s0_ * std::log1p(-4.0 * share * (1.0 - share) * sine * sine);
  }
  /// At least the log of an interval of the line of which the heights eta >= other are continued to, over M(s0): r and its argument are
  /// smallest at the left end, the share of the sampled step is largest at the right one.
  [[nodiscard]] double log_growth_cell(double x, double end, double eta, double other) const {
    const double nearest = std::clamp(0.0, x, end);
    return std::log(end - x) - kLogRootTwoPi - 0.5 * nearest * nearest -
           s0_ * step_.ratio.log_at(x).value + log_growth(end, eta) -
           0.5 * reach_ * (argument(x, eta) + argument(x, other)) - here_.value;
  }
  /// The parts to the left of the points, where there are no sampled steps, and to the right of them, where they take over at last.
  [[nodiscard]] double log_growth_tails(double eta, double other) const {
    constexpr double kCell = 0.5;
    double sum = log_tails() + log_growth(parts_.front().low, eta);
    double x = trapezoidal::range_of(step_, s0_).high;
    for (int i = 0; i < 1000; ++i, x += kCell) {
      // Beyond x the sampled step has half of r at most; phi's tail is below phi(x) there.
      const double rest = log_growth_cell(x, x + 1.0, eta, other) + log_growth(kInf, eta);
      if (rest < sum - 1.0) return log_add_exp(sum, rest);
      sum = log_add_exp(sum, log_growth_cell(x, x + kCell, eta, other));
    }
    return kInf;
  }
  [[nodiscard]] double argument(double x, double eta) const {
    return step_.ratio.off_axis(x, step_.ratio.shift(eta)).argument;
  }
  /// log_strip() for c <= eta from an upper sum over the line, in which |r|^-s0 is as large as it is there, and not as it may be.
  [[nodiscard]] double log_growth_strip(double eta, double c) const {
    constexpr double kCell = 0.25;
    const double high = eta + c, low = eta - c;
    if (!(low >= 0.0 && step_.ratio.slope() * high < kPi)) return kInf;
    double sum = log_growth_tails(high, low);
    for (const Range& part : parts_) {
      for (double x = part.low; x < part.high; x += kCell) {
        sum = log_add_exp(sum, log_growth_cell(x, x + kCell, high, low));
      }
    }
    return std::log(2.0 * part_.share) + 0.5 * (c * c + eta * eta) * part_.spread + sum;
  }

  /// The exponent of the error of the rule in a strip of height c, without the spacing; +inf where the strip is too high.
  [[nodiscard]] double log_strip(double eta, double c) const {
    if (grows_) return log_growth_strip(eta, c);
    const double m = step_.ratio.slope(), g = step_.turns(), p = step_.cosine_power(s0_);
    const double cosines = std::cos(0.5 * m * (eta + c)) * std::cos(0.5 * m * (eta - c));
    if (!(cosines > 0.0)) return kInf;
    return std::log(2.0 * part_.share) + 0.5 * (c * c + eta * eta) * part_.spread +
           0.5 * g * m * reach_ * std::max(0.0, c - eta) - 0.5 * p * std::log(cosines);
  }
  [[nodiscard]] double height(double eta, int i) const {
    if (grows_) return 0.11 * i * eta;
    return 0.1 * i * std::min(kPi / step_.ratio.slope() - eta, 14.0);
  }
  [[nodiscard]] double spacing_for(double eta) const {
    // With a cut only the sum of all sampled steps counts, and it decays far.
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
  bool grows_;  ///< whether the factor of log_growth() may be large
  std::vector<Range> parts_;
  std::vector<double> terms_;
  double points_ = 0.0;
};

/// The line at `natural`, then lower or higher ones as long as they are better.
DecayBound best_line(ShiftedLines& lines, double natural, double widest, double none,
                     double enough) {
  constexpr double kStep = 0.6;
  // Every line gives a valid bound, so that a search by factors may stop where it stops getting better: what it misses is width, not truth.
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

}  // namespace

DecayBound log_bound_beyond(const RatioStep& step, const StepCumulant& here, double s0,
                            double reach, double enough) {
  ShiftedLines lines(step, here, {}, s0, reach);
  // A loss that is linear in z decays best there.
  const double natural = std::min(reach * std::sqrt(here.variance), widest_of(step));
  return best_line(lines, natural, widest_of(step), 0.0, enough);
}

DecayBound log_sampled_beyond(const RatioStep& step, const SplitPoint& cut,
                              const SplitCumulant& here, double s0, double reach, double enough) {
  ShiftedLines lines(step, here.all, {here.sampled_share, cut.spread(), &cut}, s0, reach);
  const double natural =
      std::min(reach * std::sqrt(here.sampled_variance) / cut.spread(), widest_of(step));
  return best_line(lines, natural, widest_of(step), std::log(here.sampled_share), enough);
}

}  // namespace sfumato
