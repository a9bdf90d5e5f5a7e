#include "sfumato/account/contour/contour.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sfumato/account/contour/chernoff.hpp"
#include "sfumato/account/contour/compensated_sum.hpp"
#include "sfumato/account/contour/rounding_unit.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/math/special.hpp"

namespace sfumato {
namespace {

const double kLogTarget = std::log(1e-15);  // of the value: what aliases and truncation may add
constexpr double kMostSmoothing = 0.5;      // mu0: beyond it the bound of what it adds is not valid

/// First derivative of the exponent K(s) - s eps - log|s| - log|1+s| of the integrand, and the second.
double slope_of(const TotalCumulant& k, double eps, double s) {
  return k.mean - eps - 1.0 / s - 1.0 / (1.0 + s);
}
double curvature_of(const TotalCumulant& k, double s) {
  return k.variance + 1.0 / (s * s) + 1.0 / ((1.0 + s) * (1.0 + s));
}

/// log of a / (e^{distance period} - 1) for a = e^log_a.
double log_alias(double log_a, double distance, double period) {
  const double x = distance * period;
  return log_a - x - std::log(-std::expm1(-x));
}

/// The least period for which that is e^log_target.
double period_of_alias(double log_a, double distance, double log_target) {
  return log_add_exp(0.0, log_a - log_target) / distance;
}

}  // namespace

LogEnclosure intersected(const LogEnclosure& a, const LogEnclosure& b) {
  const LogEnclosure both{std::max(a.log_lo, b.log_lo), std::min(a.log_hi, b.log_hi)};
  if (both.log_lo > both.log_hi) {
    throw InternalError(fmt::format("two enclosures of a delta exclude each other ({} > {})",
                                    both.log_lo, both.log_hi));
  }
  return both;
}

Saddle saddle(Transform& transform, double eps, Strip strip, double start) {
  const bool right = strip == Strip::right;
  const double most = right ? transform.highest_abscissa() : 0.0;
  double low = right ? 0.0 : -1.0, high = most;
  bool is_bounded = !right;  // whether high is known to be beyond the saddle
  double s = right ? std::clamp(start, 1e-300, most) : std::clamp(start, -0.999, -0.001);
  Saddle best{s, transform.at(s)};
  for (int i = 0; i < 200; ++i) {
    const double first = slope_of(best.at, eps, s), second = curvature_of(best.at, s);
    const bool is_known = std::isfinite(best.at.value);
    if (!is_known && i > 60) return best;
    // A tenth of a width from the saddle the integrand is larger by half a percent. Any abscissa gives the same value, so that this is near enough.
    if (is_known && first * first <= 0.01 * second) return best;
    if (is_known && !(first > 0.0)) {
      if (s >= most && right) {
        best.is_capped = true;
        return best;
      }
      low = s;
    } else {
      high = s;
      is_bounded = true;
    }
    // Newton within a bracket: K may be flat and then turn upwards at once, where one rare loss takes over. A step that leaves the bracket, or
    // falls by more than ten, is replaced by the middle of the bracket in log s; before an upper end is known s grows eightfold.
    double next = s - first / second;
    if (!(next > low && next < high) || (right && next < 0.1 * s)) {
      if (!right) {
        next = 0.5 * (low + high);
      } else if (!is_bounded) {
        next = std::min(8.0 * s, most);
      } else {
        next = low > 0.0 ? std::sqrt(low * high) : 0.1 * high;
      }
    }
    if (right && !is_bounded) next = std::min(next, most);
    if (std::fabs(next - s) <= 1e-9 * std::fabs(s)) return best;
    s = next;
    best = {s, transform.at(s)};
  }
  return best;
}

std::optional<Contour> Contour::through(Transform& transform, const Saddle& at, Strip strip,
                                        double eps, Work* work) {
  if (!std::isfinite(at.at.value)) return std::nullopt;
  Contour contour(at, strip, eps);
  const double curvature = curvature_of(at.at, at.s);
  // The saddle-point estimate of the value: what aliases and truncation may add is measured by it, so that delta = e^-1000 has as many digits
  // as one of 0.1.
  const double log_estimate = at.at.value - at.s * eps - std::log(std::fabs(at.s)) -
                              std::log(std::fabs(1.0 + at.s)) -
                              0.5 * std::log(2.0 * kPi * curvature);
  double log_target = kLogTarget + log_estimate;
  // 1 - delta is at most 1; below rounding nothing is gained.
  if (strip == Strip::middle) log_target = std::max(log_target, kLogTarget);
  contour.find_places(transform, eps, log_target);
  contour.period_ = contour.period_for(eps, log_target);
  if (!std::isfinite(contour.period_)) return std::nullopt;
  transform.set_abscissa(at.s);
  if (!std::isfinite(transform.log_unit())) return std::nullopt;  // no work is left
  if (!contour.find_reach(transform, eps, log_target, work)) return std::nullopt;
  if (!contour.fill(transform)) return std::nullopt;
  return contour;
}

void Contour::find_places(Transform& transform, double eps, double log_target) {
  if (strip_ == Strip::middle) return;
  const double s0 = at_.s, unit = 1.0 / std::sqrt(std::max(at_.at.variance, 1e-300));
  const auto place = [&](double s) {
    const TotalCumulant k = transform.at(s);
    return Place{s, chernoff_term(s) + k.value + k.error};
  };
  const auto search = [&](double side, std::vector<Place>& places) {
    double best = kInf;
    const auto improves = [&](double d) {  // or is no worse than that it may still
      const double s = s0 + side * d * unit;
      if (!(s > 0.0) || s > transform.highest_abscissa()) return true;
      places.push_back(place(s));
      const double period =
          period_of_alias(places.back().log_a - s * eps, std::fabs(s - s0), log_target);
      const bool is_better = period <= 1.05 * best;
      best = std::min(best, period);
      return is_better;
    };
    // Aliases to a side are bounded by Chernoff at an abscissa there: a near one needs a long period, a far one has a large K. Tried at growing
    // distances while that shortens the period.
    for (const double d : {1.0, 2.0, 3.0, 4.5, 7.0, 10.0, 15.0, 30.0, 60.0, 100.0}) {
      if (!improves(d)) break;
    }
    // A normal loss has about 8. Where rare large losses make K turn upwards, the good places are near.
    for (double d = 0.5; best > 60.0 / unit && d > 0.01; d *= 0.5) {
      if (!improves(d)) break;
    }
  };
  search(1.0, above_);
  search(-1.0, below_);
  below_.push_back({0.0, 0.0});  // delta <= 1
}

double Contour::period_for(double eps, double log_target) const {
  const double s0 = at_.s, half = log_target - std::numbers::ln2;
  if (strip_ == Strip::middle) {
    return std::max(period_of_alias(0.0, -s0, half), period_of_alias(eps, 1.0 + s0, half));
  }
  const auto best = [&](const std::vector<Place>& places) {
    double least = kInf;
    for (const Place& p : places) {
      const double log_a = p.log_a + 0.5 * smoothing_ * p.s * (p.s + 1.0) - p.s * eps;
      least = std::min(least, period_of_alias(log_a, std::fabs(p.s - s0), half));
    }
    return least;
  };
  return std::max(best(above_), best(below_));
}

/// Theorem A of Spec §18.2: what the aliases add at most.
double Contour::log_aliases(double eps) const {
  const double s0 = at_.s;
  if (strip_ == Strip::middle) {
    return log_add_exp(log_alias(0.0, -s0, period_), log_alias(eps, 1.0 + s0, period_));
  }
  const auto least = [&](const std::vector<Place>& places) {
    double best = kInf;
    for (const Place& p : places) {
      const double log_a = p.log_a + 0.5 * smoothing_ * p.s * (p.s + 1.0) - p.s * eps +
                           8.0 * kUnit * std::fabs(p.s * eps);
      best = std::min(best, log_alias(log_a, std::fabs(p.s - s0), period_));
    }
    return best;
  };
  return log_add_exp(least(above_), least(below_));
}

/// How far to go: until what is left out is below the target; where the work ends before, a normal loss makes up for the decay that is
/// missing.
bool Contour::find_reach(Transform& transform, double eps, double log_target, Work* work) {
  const double step = 2.0 * kPi / period_;
  const double target = log_target - (transform.log_unit() - at_.s * eps);
  // A normal loss has decayed to e^(-8.8^2 / 2) = 2e-17 there.
  const double first = std::max(8.8 / std::sqrt(curvature_of(at_.at, at_.s)), 2.0 * step);
  const auto rows = [&](double y) { return Transform::Rows::until(y, period_); };
  const auto terms = [&](double y) { return transform.terms_for(rows(y)); };
  reach_ = first;
  for (int i = 0; i < 60 && terms(reach_) > work->terms; ++i) reach_ *= 0.5;
  if (!(reach_ >= step)) return false;
  const double points_kept = 0.3 * work->points;
  for (int i = 0; i < 80; ++i) {
    const double enough = target + std::log(kPi * reach_);
    log_beyond_ = transform.log_beyond(reach_, enough) - std::log(kPi * reach_);
    if (log_beyond_ <= target) return transform.prepare(rows(reach_));
    // Far from the target the reach grows faster.
    const double factor = log_beyond_ > 0.3 * target   ? 2.0
                          : log_beyond_ > 0.8 * target ? 1.3
                                                       : 1.12;
    // Bounding the decay costs points as well: three tenths of the work are kept for the nodes themselves.
    const bool is_last =
        i == 79 || terms(factor * reach_) > work->terms || work->points < points_kept;
    if (is_last) break;
    reach_ *= factor;
  }
  // The deviation of a normal loss that brings what is left out down to the target: e^{-mu0^2 reach^2 / 2}. More is released then, so that
  // delta is not smaller; enclosure() takes off what it is larger by at most.
  const double mu0 = std::sqrt(2.0 * (log_beyond_ - target)) / reach_;
  // Where it is not small beside 1 / s0 the value would be another.
  if (!(mu0 <= kMostSmoothing && mu0 * std::fabs(at_.s) <= 2.0)) return false;
  smoothing_ = mu0 * mu0;
  log_beyond_ -= 0.5 * smoothing_ * reach_ * reach_;
  period_ = period_for(eps, log_target);
  return terms(reach_) <= 2.0 * work->terms && transform.prepare(rows(reach_));
}

/// False where a value is beyond what doubles hold.
bool Contour::fill(Transform& transform) {
  const double s0 = at_.s;
  const Transform::Rows rows = Transform::Rows::until(reach_, period_);
  log_unit_ = transform.log_unit() + 0.5 * smoothing_ * s0 * (s0 + 1.0);
  const double sign = strip_ == Strip::right ? 1.0 : -1.0;
  CompensatedSum rounding, per_eps;
  const auto count = static_cast<std::size_t>(rows.count);
  nodes_.reserve(count);
  for (std::size_t n = 0; n < count; ++n) {
    // The integrand at -y is the conjugate of that at y: real parts of one half, in which y = 0 counts half.
    const double y = static_cast<double>(n) * rows.step(), half = n == 0 ? 0.5 : 1.0;
    const Complex s(s0, y);
    const Transform::Value at = transform.value(n);
    const Complex log = at.log + smoothing_ * Complex(-0.5 * y * y, (s0 + 0.5) * y);
    const double modulus = half * std::exp(log.real());
    const double error = half * at.error * std::exp(-0.5 * smoothing_ * y * y);
    if (!std::isfinite(modulus) || !std::isfinite(log.imag()) || !std::isfinite(error))
      return false;
    const Complex kernel = sign / (s * (s + 1.0));
    nodes_.push_back({y, kernel * std::polar(modulus, log.imag()), modulus, error});
    const double f = std::abs(nodes_.back().f);
    const double turn = std::fabs(log.imag());
    // A node errs by its own bound, by some operations, by its share in the sum, and by the rounding of its argument, which is as large as the
    // argument.
    rounding.add(error * std::abs(kernel) + 8.0 * kUnit * f * (10.0 + 0.1 * rows.count + turn));
    per_eps.add(8.0 * kUnit * f * std::abs(s));
  }
  rounding_ = rounding.value();
  rounding_per_eps_ = per_eps.value();
  return true;
}

/// The sums over the nodes at one eps, over e^{log_unit - s0 eps}.
struct Contour::Sums {
  double value;    ///< of the integral for delta (right) or 1 - delta (middle)
  double slope;    ///< of its derivative
  double density;  ///< of T at eps, an upper bound of it
};

Contour::Sums Contour::sums_at(double eps) const {
  CompensatedSum value, slope, density;
  for (const Node& node : nodes_) {
    const Complex turn(std::cos(node.y * eps), -std::sin(node.y * eps));
    const Complex f = node.f * turn, s(at_.s, node.y);
    value.add(f.real());
    slope.add(-(s * f).real());
    if (smoothing_ > 0.0) {
      density.add((strip_ == Strip::right ? 1.0 : -1.0) * (s * (s + 1.0) * f).real() + node.error +
                  node.modulus * 8.0 * kUnit * (std::abs(s) * std::fabs(eps) + 20.0));
    }
  }
  const double unit = 2.0 / period_;
  return {unit * value.value(), unit * slope.value(), unit * density.value()};
}

bool Contour::serves(double eps) const {
  const double moved = eps - made_for_;
  return moved * moved <= curvature_of(at_.at, at_.s);
}

double Contour::log_slope(double eps) const {
  const Sums sums = sums_at(eps);
  return sums.slope / sums.value;
}

double Contour::log_chernoff(double eps) const {
  if (strip_ == Strip::middle) return 0.0;
  const double s = at_.s;
  return std::min(0.0, chernoff_term(s) + at_.at.value + at_.at.error - s * eps +
                           8.0 * kUnit * (std::fabs(s * eps) + 10.0));
}

LogEnclosure Contour::enclosure(double eps) const {
  const Sums sums = sums_at(eps);
  const double log_scale = log_unit_ - at_.s * eps;
  const double left = std::exp(log_beyond_);
  const double rounding = 2.0 / period_ * (rounding_ + rounding_per_eps_ * std::fabs(eps));
  const double aliased = std::exp(log_aliases(eps) - log_scale);
  // The loss that was added makes delta larger by at most (1 + mu0) mu0^2 times the density of T, whose sum leaves out left / mu0^2.
  const double slack = smoothing_ > 0.0 ? (1.0 + std::sqrt(smoothing_)) *
                                              (smoothing_ * std::max(sums.density, 0.0) + left)
                                        : 0.0;
  // Aliases are masses of T far from eps, hence positive: the sum is never too small because of them, and the upper end needs nothing.
  const double low = sums.value - left - rounding - aliased, high = sums.value + left + rounding;
  const double guard = 8.0 * kUnit * (10.0 + std::fabs(log_unit_) + std::fabs(at_.s * eps));
  const auto logarithm = [&](double x) { return x > 0.0 ? log_scale + std::log(x) : -kInf; };
  if (strip_ == Strip::right) {
    return {logarithm(low - slack) - guard, logarithm(high) + guard};
  }
  // 1 - delta' is in [low, high]; delta is at most delta' and at least delta' - slack.
  const double log_hi = log1m_exp(std::min(logarithm(low) - guard, 0.0));
  const double least =
      -std::expm1(std::min(logarithm(high) + guard, 0.0)) - std::exp(log_scale + guard) * slack;
  return {least > 0.0 ? std::log(least) - 4.0 * kUnit : -kInf, std::min(log_hi + 4.0 * kUnit, 0.0)};
}

}  // namespace sfumato
