#include "sfumato/account/accountant/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "sfumato/account/contour/chernoff.hpp"
#include "sfumato/account/contour/computable_bounds.hpp"
#include "sfumato/account/contour/delta_curve.hpp"
#include "sfumato/account/contour/rounding_unit.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/math/special.hpp"

namespace sfumato {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kMargin = 4e-12;  // of log delta, between the two ends of an epsilon

DeltaMethod method_of(DeltaCurve::Method method) {
  switch (method) {
    case DeltaCurve::Method::closed_form: return DeltaMethod::closed_form;
    case DeltaCurve::Method::contour: return DeltaMethod::contour;
    case DeltaCurve::Method::split: return DeltaMethod::split;
  }
  throw InternalError("a method without a name");
}

/// A loss whose contours can be computed, with its failure and shift.
class ShiftedCurve {
 public:
  explicit ShiftedCurve(const TotalLoss& loss)
      : log_survival_(loss.log_survival),
        log_failure_(loss.log_survival < 0.0 ? std::log(-std::expm1(loss.log_survival)) : -kInf),
        shift_(loss.shift),
        curve_({loss.steps, loss.mu_squared, 0.0, 0.0, loss.observer}) {}

  [[nodiscard]] DeltaCurve::Point at(double eps) {
    if (log_survival_ == -kInf) return {{0.0, 0.0}, DeltaCurve::Method::closed_form, kNaN};
    DeltaCurve::Point point = curve_.at(eps - shift_);
    if (shift_ != 0.0 && std::isfinite(eps)) {
      // The threshold has a rounding: its neighbours are on the safe sides.
      const double ulp = 4.0 * kUnit * (std::fabs(eps) + std::fabs(shift_));
      point.log.log_hi = curve_.at(eps - shift_ - ulp).log.log_hi;
      point.log.log_lo = std::min(point.log.log_hi, curve_.at(eps - shift_ + ulp).log.log_lo);
    }
    if (log_survival_ < 0.0) {
      const auto with_failure = [&](double log) {
        return log_add_exp(log_failure_, log_survival_ + log);
      };
      point.log_slope *=
          std::exp(log_survival_ + point.log.log_hi - with_failure(point.log.log_hi));
      point.log = {with_failure(point.log.log_lo) - 8.0 * kUnit,
                   std::min(0.0, with_failure(point.log.log_hi) + 8.0 * kUnit)};
    }
    return point;
  }

  /// At least log delta(eps) for every eps >= 0.
  [[nodiscard]] double log_most() {
    return shift_ > 0.0
               ? 0.0
               : std::min(0.0, log_add_exp(log_failure_, log_survival_ + curve_.log_most()) +
                                   8.0 * kUnit);
  }

  /// About the eps at which log delta is log_target.
  [[nodiscard]] std::optional<double> guess(double log_target) {
    if (!(log_target > log_failure_)) return std::nullopt;
    const double rest = log_sub_exp(log_target, log_failure_) - log_survival_;
    const auto eps = rest < 0.0 ? curve_.guess(rest) : std::nullopt;
    return eps ? std::optional(*eps + shift_) : std::nullopt;
  }

  [[nodiscard]] double threshold_guess(double fpr) { return curve_.threshold_guess(fpr) + shift_; }

 private:
  double log_survival_, log_failure_, shift_;
  DeltaCurve curve_;
};

/// log(e^a - e^b), -inf where that is not positive.
double log_subtract(double a, double b) { return a > b ? log_sub_exp(a, b) : -kInf; }

}  // namespace

double DeltaEnclosure::lo() const {
  if (log.log_lo == -kInf) return 0.0;
  const double value = std::exp(log.log_lo);
  // Below the least normal number what is rounded is the last place, not a share of the number: exp and the product by one each.
  return std::max(0.0, value * (1.0 - 4.0 * kUnit * (1.0 + std::fabs(log.log_lo))) -
                           2.0 * std::numeric_limits<double>::denorm_min());
}

double DeltaEnclosure::hi() const {
  if (log.log_hi == -kInf) return 0.0;
  const double value = std::exp(log.log_hi);
  const double up = value * (1.0 + 4.0 * kUnit * (1.0 + std::fabs(log.log_hi)));
  return std::min(1.0, up + 2.0 * std::numeric_limits<double>::denorm_min());
}

class LossProfile::Impl {
 public:
  explicit Impl(const TotalLoss& loss)
      : highest_(loss.log_survival < 0.0 ? kInf : highest_loss(loss)) {
    const ComputableBounds bounds = computable_bounds(loss);
    upper_.emplace(bounds.upper);
    if (!bounds.is_exact) lower_.emplace(bounds.lower);
  }

  [[nodiscard]] DeltaCurve::Point at(double eps) {
    DeltaCurve::Point point = upper_->at(eps);
    if (lower_) point.log.log_lo = lower_->at(eps).log.log_lo;
    return point;
  }
  [[nodiscard]] std::optional<double> guess(double log_target) { return upper_->guess(log_target); }
  [[nodiscard]] double threshold_guess(double fpr) { return upper_->threshold_guess(fpr); }
  [[nodiscard]] double log_most() { return upper_->log_most(); }
  [[nodiscard]] bool is_bounded_apart() const { return lower_.has_value(); }
  [[nodiscard]] double highest() const { return highest_; }

 private:
  double highest_;  ///< loss
  std::optional<ShiftedCurve> upper_, lower_;
};

LossProfile::LossProfile(const TotalLoss& loss) {
  require_valid(loss);
  impl_ = std::make_unique<Impl>(loss);
}
LossProfile::LossProfile(LossProfile&&) noexcept = default;
LossProfile& LossProfile::operator=(LossProfile&&) noexcept = default;
LossProfile::~LossProfile() = default;

DeltaEnclosure LossProfile::delta(double eps) {
  if (std::isnan(eps)) throw InvalidArgument("eps is not a number", "Pass an epsilon");
  const DeltaCurve::Point point = impl_->at(eps);
  if (std::isnan(point.log.log_lo) || std::isnan(point.log.log_hi)) {
    throw NumericalFailure("delta has no enclosure", "Report the ledger that asked for it");
  }
  return {point.log, method_of(point.method)};
}

namespace {

/// Finds where log delta falls to a target, and ends on both sides that are certain.
class EpsilonSearch {
 public:
  /// No eps at or beyond `end` needs to be tried.
  EpsilonSearch(std::function<DeltaCurve::Point(double)> at, double target, double end,
                bool is_bounded_apart)
      : at_(std::move(at)), target_(target), end_(end), is_bounded_apart_(is_bounded_apart) {}

  /// From a first guess > 0.
  [[nodiscard]] EpsilonEnclosure around(double guess) {
    approach(guess);
    if (high_ == 0.0) return {0.0, 0.0};
    const double change = std::fabs(excess()) + std::min(width(), 1.0), at = eps_;
    settle_high(at, step_for(std::fabs(excess())));
    settle_low(std::min(at, high_), step_for(change));
    return {std::max(0.0, proven_low_), high_};
  }

 private:
  /// Whether hi(eps) <= delta; the ends are moved.
  bool test(double eps) {
    eps_ = eps;
    point_ = at_(eps);
    if (point_.log_slope < 0.0) slope_ = point_.log_slope;
    if (point_.log.log_lo > target_ + kMargin) proven_low_ = std::max(proven_low_, eps);
    const bool is_safe = point_.log.log_hi <= target_;
    (is_safe ? high_ : low_) = eps;
    return is_safe;
  }
  [[nodiscard]] double excess() const { return point_.log.log_hi - target_; }
  [[nodiscard]] double width() const { return point_.log.log_hi - point_.log.log_lo; }
  /// How far log delta takes to change by that much, and a little more.
  [[nodiscard]] double step_for(double change) const {
    const double step = slope_ < 0.0 ? -1.1 * change / slope_ : 0.0;
    return (std::isfinite(step) ? step : 0.0) + 4.0 * kUnit * eps_;
  }

  /// Newton's method on log hi inside a bracket, until that is at the target up to rounding.
  void approach(double guess) {
    bool tested_zero = false;
    double next = std::min(guess, 0.5 * end_);
    for (int i = 0; i < 80; ++i) {
      test(next);
      const double far = excess();
      // Where delta hardly falls, the first eps is looked for by halving.
      const double near = 1e-11 + 1e-15 * std::fabs(target_) + 1e-3 * std::min(width(), 1.0);
      const bool is_near = std::fabs(far) <= near;
      if (is_near && std::fabs(far) <= -1e-9 * eps_ * point_.log_slope) return;
      if (std::isfinite(high_) && high_ - low_ <= (width() < 1e-6 ? 1e-13 : 1e-11) * high_) return;
      next =
          slope_ < 0.0 && point_.log_slope < 0.0 && std::isfinite(far) ? eps_ - far / slope_ : kNaN;
      if (!(next > 0.0) && low_ == 0.0 && !tested_zero) {
        tested_zero = true;
        if (test(0.0)) return;
      }
      if (!(next > low_ && next < high_)) next = middle();
      if (high_ == kInf) next = std::min({next, 16.0 * low_ + 1.0, 0.5 * (low_ + end_)});
      if (high_ == kInf && next > 1e12) return;
    }
  }
  [[nodiscard]] double middle() const {
    if (high_ == kInf) return kInf;
    return low_ > 0.0 && high_ > 4.0 * low_ ? std::sqrt(low_ * high_) : 0.5 * (low_ + high_);
  }

  /// A little more than `at`, until hi(eps) <= delta.
  void settle_high(double at, double step) {
    for (int i = 0; i < 200 && at + step < high_; ++i, step *= 4.0) {
      if (test(at + step)) return;
    }
  }
  /// A little less than `at`, until lo(eps) > delta.
  void settle_low(double at, double step) {
    for (int i = 0; i < 20 && at - step > std::max(0.0, proven_low_); ++i, step *= 16.0) {
      if (width() > 1e-2) step = std::max(step, 0.1 * at);
      const double safe = high_;
      test(at - step);
      high_ = std::min(high_, safe);
      if (proven_low_ == at - step) break;
    }
    // Where each end has a curve of its own they are percents apart, and the steps above too long: halving finds the other end.
    const double safe = high_;
    double above = at, below = std::max(0.0, proven_low_);
    for (int i = 0; i < 8 && is_bounded_apart_ && above - below > 1e-3 * at; ++i) {
      const double middle = 0.5 * (above + below);
      test(middle);
      high_ = std::min(high_, safe);
      (proven_low_ >= middle ? below : above) = middle;
    }
  }

  std::function<DeltaCurve::Point(double)> at_;
  double target_, end_;
  bool is_bounded_apart_;  ///< upper and lower ends are those of two losses
  DeltaCurve::Point point_{{-kInf, 0.0}, DeltaCurve::Method::closed_form, kNaN};
  double eps_ = 0.0, slope_ = kNaN;  ///< the last that was tested, and the last slope
  double low_ = 0.0, high_ = kInf, proven_low_ = -1.0;
};

}  // namespace

EpsilonEnclosure LossProfile::epsilon(double delta) {
  if (!(delta >= 0.0 && delta < 1.0)) {
    throw InvalidArgument(fmt::format("delta = {} is not in [0, 1)", delta), "Pass a probability");
  }
  const double highest = impl_->highest();
  if (highest <= 0.0) return {0.0, 0.0};
  if (delta == 0.0) return {highest * (1.0 - 8.0 * kUnit), highest * (1.0 + 8.0 * kUnit)};
  // A little below, so that delta(eps) computed again on another contour is below delta too; unless that is below what is disclosed
  // anyway, against which nothing helps.
  const double log_delta = std::log(delta), end = impl_->at(kInf).log.log_hi;
  double target = log_delta - 8.0 * kUnit * (1.0 - log_delta) - 0.5 * kMargin;
  if (end > log_delta) return {impl_->at(kInf).log.log_lo > log_delta + kMargin ? kInf : 0.0, kInf};
  if (end > target) target = log_delta;
  if (impl_->log_most() <= target) return {0.0, 0.0};
  const double guess = impl_->guess(target).value_or(1.0);
  EpsilonSearch search([this](double eps) { return impl_->at(eps); }, target,
                       highest < kInf ? 2.0 * highest : kInf, impl_->is_bounded_apart());
  return search.around(guess > 0.0 ? guess : 1e-3 * std::min(1.0, highest));
}

double LossProfile::threshold_guess(double fpr) { return impl_->threshold_guess(fpr); }

TailEnclosure LossProfile::tail(double eps) {
  const LogEnclosure here = delta(eps).log;
  // e^eps Q(T > eps), which does not overflow.
  double log_lo = -kInf, log_hi = 0.0;
  for (const double t : {1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1}) {
    const double guard = 8.0 * kUnit * (1.0 + std::fabs(eps)) / t;  // of the distance of two eps
    const double above = delta(eps + t).log.log_hi, below = delta(eps - t).log.log_hi;
    log_lo = std::max(log_lo, log_subtract(here.log_lo, above) - std::log(std::expm1(t)) - guard);
    log_hi = std::min(log_hi, log_subtract(below, here.log_lo) - std::log(-std::expm1(-t)) + guard);
  }
  // P(T > eps) <= 1, and Q(T > eps) <= e^-eps P(T > eps).
  const double p_hi = std::min(0.0, log_add_exp(here.log_hi, log_hi) + 8.0 * kUnit);
  const double p_lo = std::min(p_hi, log_add_exp(here.log_lo, log_lo) - 8.0 * kUnit);
  const double q_hi = std::min({0.0, log_hi - eps, p_hi - eps});
  return {{p_lo, p_hi}, {std::min(log_lo - eps, q_hi), q_hi}};
}

DeltaEnclosure delta_of(const TotalLoss& loss, double eps) { return LossProfile(loss).delta(eps); }
EpsilonEnclosure epsilon_of(const TotalLoss& loss, double delta) {
  return LossProfile(loss).epsilon(delta);
}
EpsilonEnclosure largest_epsilon(const std::vector<TotalLoss>& losses, double delta) {
  EpsilonEnclosure largest{0.0, 0.0};
  for (const TotalLoss& loss : losses) {
    LossProfile profile(loss);
    if (largest.hi > 0.0 && largest.hi < kInf && profile.delta(largest.hi).hi() <= delta) continue;
    const EpsilonEnclosure found = profile.epsilon(delta);
    largest = {std::max(largest.lo, found.lo), std::max(largest.hi, found.hi)};
  }
  return largest;
}
TailEnclosure tail_of(const TotalLoss& loss, double eps) { return LossProfile(loss).tail(eps); }

struct Cumulants::Kept {
  explicit Kept(const TotalLoss& loss) : shift(loss.shift), transform(loss, &work) {}
  double shift;
  Work work;
  PlainTransform transform;
};

Cumulants::Cumulants(const TotalLoss& loss) : kept_(std::make_unique<Kept>(loss)) {}
Cumulants::Cumulants(Cumulants&&) noexcept = default;
Cumulants& Cumulants::operator=(Cumulants&&) noexcept = default;
Cumulants::~Cumulants() = default;

TotalCumulant Cumulants::at(double s) {
  kept_->work = Work{};
  TotalCumulant total = kept_->transform.at(s);
  total.value += s * kept_->shift;
  total.mean += kept_->shift;
  total.error += 8.0 * kUnit * std::fabs(s * kept_->shift);
  return total;
}

TotalCumulant cumulant(const TotalLoss& loss, double s) { return Cumulants(loss).at(s); }

double log_chernoff(const TotalLoss& loss, double eps, double s) {
  const TotalCumulant k = cumulant(loss, s);
  return chernoff_term(s) + k.value + k.error - s * eps + 8.0 * kUnit * std::fabs(s * eps);
}

}  // namespace sfumato
