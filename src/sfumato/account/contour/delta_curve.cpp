#include "sfumato/account/contour/delta_curve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "sfumato/account/accountant/closed_form.hpp"
#include "sfumato/account/accountant/merged.hpp"
#include "sfumato/account/contour/chernoff.hpp"
#include "sfumato/account/contour/rounding_unit.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/math/special.hpp"

namespace sfumato {
namespace {

// Widths and expected numbers of sampled steps are read off the table of bench/macro/accounting_choices.cpp, work too (--work).
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kNarrow = 1e-8;  // of the value: no other method is asked
// Width over the value: below it no other method that takes long is asked. The others are sharper where sampled steps are not so rare.
constexpr double kGood = 5e-8, kGoodIfHyperbolic = 5e-7, kGoodIfRare = 3e-6;
constexpr double kSoRare = 0.15;          // expected sampled steps
constexpr double kMostDigitsLost = 10.0;  // nats of sixteen digits, away from a saddle
// log of delta e^-eps, the size of what e^eps multiplies: below it distribution functions have no digits.
constexpr double kLogUnderflow = -650.0;
constexpr Work kLittleWork{2e4, 1e6};  // of a contour that helps where it takes little

// Where sampled steps are rare:
constexpr double kRare = 500.0;               // expected sampled steps
constexpr Work kFirstWork{4e4, 2e6};          // of the first contour
constexpr Work kMoreWork{3e5, 1.2e7};         // of the others
constexpr double kLogLeastExchanged = -25.0;  // of delta: below it a difference has too few digits
constexpr double kFewSampled = 3.0;  // a single contour is tried first where there are more
constexpr double kVeryRare = 1.0;
constexpr double kFewSteps = 500.0;  // with more of them bounds on a hyperbolic contour take longer
constexpr double kHopeless = 1.0;    // width of a contour that six times the work will not mend
constexpr double kPerOctave = 2.0;   // regions, over eps
constexpr double kSmallest = 0x1p-40;  // eps of a region of its own
constexpr int kAtZero = -1000;         // the region of eps = 0
constexpr std::size_t kMostRegions = 64;

/// About the x that a standard normal number exceeds with the probability p.
double normal_tail_point(double p) {
  const double t = std::sqrt(-2.0 * std::log(std::clamp(std::min(p, 1.0 - p), 1e-300, 0.5)));
  const double x = t - (2.30753 + 0.27061 * t) / (1.0 + t * (0.99229 + 0.04481 * t));  // to 0.003
  return p < 0.5 ? x : -x;
}

/// +inf for batches of a fixed size, whose sampled steps are on both sides: exchanging the pair changes nothing.
double expected_sampled_steps(const TotalLoss& loss) {
  double expected = 0.0;
  for (const StepLoss& step : loss.steps) {
    expected += std::visit([](const auto& s) { return s.expected_sampled(); }, step);
  }
  return expected;
}

double steps_of(const TotalLoss& loss) {
  double sum = 0.0;
  for (const StepLoss& step : loss.steps) sum += count_of(step);
  return sum;
}

bool is_narrow(const std::optional<Contour>& contour, double eps) {
  if (!contour) return false;
  const LogEnclosure log = contour->enclosure(eps);
  return log.log_hi - log.log_lo < kNarrow;
}

/// The least s of the right strip for a normal loss of the same mean and variance.
double normal_saddle(const TotalCumulant& start, double eps) {
  const double d = eps - start.mean, v = std::max(start.variance, 1e-300);
  const double root = std::sqrt(d * d + 4.0 * v);
  return d > 0.0 ? (d + root) / (2.0 * v) : 2.0 / (root - d);
}

}  // namespace

DeltaCurve::DeltaCurve(const TotalLoss& loss) : loss_(loss), plain_(loss_, &work_) {
  const double expected = expected_sampled_steps(loss_);
  if (expected > 0.0 && expected <= kRare) single_steps_.emplace(loss_);
}

/// Many kinds of steps get each what so many would have: cost grows with their number, widths do not.
Work DeltaCurve::scaled(Work work) const {
  const double factor =
      std::max(1.0, static_cast<double>(loss_.steps.size()) / static_cast<double>(kMostKinds));
  return {factor * work.points, factor * work.terms};
}

const TotalCumulant& DeltaCurve::start() {
  if (!start_) start_ = plain_.at(0.0);
  return *start_;
}

DeltaCurve::Point DeltaCurve::at(double eps) {
  require_going_on(loss_.observer);
  // A closed form is exact up to rounding and costs nothing. It decides alone unless it subtracts two probabilities that agree in all digits:
  // then its enclosure is wide, and is intersected with that of a contour.
  const auto closed = closed_form_delta(loss_, eps);
  constexpr double kNarrow = 1e-9;  // as narrow as contours are asked to be
  if (closed && (closed->log_hi == -kInf || closed->log_hi - closed->log_lo < kNarrow ||
                 closed->log_hi - std::max(eps, 0.0) > kLogUnderflow)) {
    return {*closed, Method::closed_form, kNaN};
  }
  Point point = computed_at(eps);
  if (closed) point.log = intersected(point.log, *closed);
  return point;
}

DeltaCurve::Point DeltaCurve::computed_at(double eps) {
  work_ = scaled(Work{});
  // Below the mean by a deviation delta is near 1, and 1 - delta has the digits: the contour passes between the poles. Farther down, at
  // eps < 0, the pair exchanged is asked, for which the same eps is a small delta again.
  const double typical = start().mean - std::sqrt(start().variance);
  if (eps < 0.0 && eps < typical) return exchanged_at(eps);
  const bool has_region = single_steps_ && eps >= 0.0 && eps >= typical;
  const bool is_region_first = has_region && expected_sampled_steps(loss_) <= kFewSampled;
  // With few expected sampled steps one contour is seldom narrow, and the ways of a region are tried at once. With more of them a contour with
  // little work comes first: it is narrow for most eps, and a region would be made for nothing.
  if (is_region_first) {
    if (const auto point = region_at(eps)) return *point;
    work_ = scaled(Work{});
  } else if (has_region) {
    work_ = scaled(kFirstWork);
  }
  Point point = contour_at(eps, eps >= typical ? Strip::right : Strip::middle);
  if (has_region && !is_region_first && !(point.log.log_hi - point.log.log_lo < kNarrow)) {
    right_.reset();
    if (const auto found = region_at(eps)) return *found;
    work_ = scaled(Work{});
    point = contour_at(eps, Strip::right);
  }
  point.log = intersected(point.log, known_at(eps));
  if (!(point.log.log_hi - point.log.log_lo < kNarrow)) intersect_split(eps, &point);
  if (!(point.log.log_hi - point.log.log_lo < kNarrow)) {
    // A wide enclosure depends on where its contour stands: every eps gets its own, so that asking twice gives the same.
    right_.reset();
    middle_.reset();
    split_.reset();
    last_saddle_ = 0.0;
  }
  return point;
}

/// Bounds without a contour: delta >= 1 - e^eps, and delta(eps) <= delta(0) <= sqrt(KL / 2), which is near where losses are tiny.
LogEnclosure DeltaCurve::known_at(double eps) {
  const double floor = eps < 0.0 ? std::log(-std::expm1(eps)) - 4.0 * kUnit : -kInf;
  const double pinsker = eps >= 0.0 && start().mean > 0.0
                             ? 0.5 * std::log(0.5 * (start().mean + start().error)) + 8.0 * kUnit
                             : 0.0;
  return {floor, std::min(0.0, pinsker)};
}

double DeltaCurve::log_most() {
  const double known = known_at(0.0).log_hi;
  return single_steps_ ? std::min(known, single_steps_->log_variation()) : known;
}

/// The cumulant of the pair exchanged.
const TotalCumulant& DeltaCurve::exchanged_start() {
  if (!exchanged_) {
    exchanged_.emplace(exchanged(loss_), &work_);
    exchanged_start_ = exchanged_->at(0.0);
  }
  return *exchanged_start_;
}

/// Whether most runs sample no step, and those that have decide: P has them then, and not Q.
bool DeltaCurve::leads_by_sampled() {
  return single_steps_ && expected_sampled_steps(loss_) <= kVeryRare &&
         start().variance > exchanged_start().variance;
}

DeltaCurve::Region DeltaCurve::region_around(double centre) {
  require_going_on(loss_.observer);
  Region region;
  const double good = expected_sampled_steps(loss_) <= kSoRare ? kGoodIfRare : kGood;
  double width = kInf, right_width = kInf;
  const auto width_of = [&](const auto& contour) {
    if (!contour) return kInf;
    const LogEnclosure log = contour->enclosure(centre);
    return log.log_hi - log.log_lo;
  };
  // One saddle serves Chernoff's bound, the hyperbola and the vertical line.
  const Saddle at = saddle(plain_, centre, Strip::right, normal_saddle(start(), centre));
  const bool has_saddle = std::isfinite(at.at.value);
  if (has_saddle) {
    region.s_chernoff = at.s;
    region.log_chernoff = chernoff_term(at.s) + at.at.value + at.at.error;
  }
  const auto try_hyperbolic = [&] {
    if (has_saddle) region.hyperbolic = HyperbolicContour::at(loss_, at, centre);
    width = std::min(width, width_of(region.hyperbolic));
  };
  const bool is_hyperbolic_first =
      expected_sampled_steps(loss_) <= kVeryRare && steps_of(loss_) <= kFewSteps;
  if (is_hyperbolic_first) try_hyperbolic();
  if (width < kGoodIfHyperbolic) return region;
  const auto try_right = [&](const Work& work) {
    if (!has_saddle) return;
    work_ = scaled(work);
    if (auto right = right_contour(at, centre)) region.right = std::move(right);
    right_width = width_of(region.right);
    width = std::min(width, right_width);
  };
  const auto try_exchanged = [&] {
    // delta = 1 - e^eps + e^eps delta': a difference, which has lost log10(1 / delta) digits.
    if (region.log_chernoff - region.s_chernoff * centre < kLogLeastExchanged) return;
    static_cast<void>(exchanged_start());
    work_ = scaled(kMoreWork);
    region.exchanged = ExchangedContour::at(*exchanged_, centre, &work_);
    width = std::min(width, width_of(region.exchanged));
  };
  const bool is_exchanged_first = leads_by_sampled();
  if (is_exchanged_first) try_exchanged();
  if (width > good) try_right(kFirstWork);
  region.is_simple = !is_exchanged_first && width < kNarrow;
  if (region.is_simple) return region;
  if (width > good && !is_exchanged_first) try_exchanged();
  // Six times the work adds two or three digits to a line that has one already, and none to one that has none; and it cannot catch up with a way
  // that is a thousand times narrower.
  const bool is_hopeless = !(right_width < kHopeless && right_width < 1e3 * width);
  if (width > good && !is_hopeless) try_right(kMoreWork);
  if (width > good && !is_hyperbolic_first) try_hyperbolic();
  if (width > good) {
    work_ = scaled(Work{});
    // Last, because it is the slowest to set up: up to nine cuts are judged before one is integrated.
    region.split = SplitContour::at(loss_, centre, &work_);
  }
  return region;
}

const DeltaCurve::Region& DeltaCurve::region_of(double eps) {
  const bool is_zero = eps < kSmallest;
  const int index =
      is_zero ? kAtZero : static_cast<int>(std::nearbyint(kPerOctave * std::log2(eps)));
  const auto found = regions_.find(index);
  if (found != regions_.end()) return found->second;
  // Whoever asks for a long list of eps would otherwise keep every contour. A region made anew is the same: it depends on its centre alone.
  if (regions_.size() >= kMostRegions) regions_.clear();
  const double centre = is_zero ? 0.0 : std::exp2(static_cast<double>(index) / kPerOctave);
  return regions_.emplace(index, region_around(centre)).first->second;
}

/// Nothing where the contour of the region is narrow, but does not serve this eps.
std::optional<DeltaCurve::Point> DeltaCurve::region_at(double eps) {
  const Region& region = region_of(eps);
  if (region.is_simple && !(region.right->serves(eps) && is_narrow(region.right, eps))) {
    return std::nullopt;
  }
  Point point{known_at(eps), Method::contour, kNaN};
  const double s = region.s_chernoff;
  const double log_chernoff = region.log_chernoff - s * eps + 8.0 * kUnit * (s * eps + 10.0);
  // Upper bounds that need no contour: they close the enclosure where all contours of the region are loose.
  point.log =
      intersected(point.log, {-kInf, std::min(log_chernoff, single_steps_->log_variation())});
  double width = kInf;
  const auto intersect = [&](const auto& contour, Method method) {
    if (!contour) return;
    const LogEnclosure log = contour->enclosure(eps);
    point.log = intersected(point.log, log);
    if (!(log.log_hi - log.log_lo < width)) return;
    width = log.log_hi - log.log_lo;
    point.method = method;
    point.log_slope = contour->log_slope(eps);
  };
  intersect(region.hyperbolic, Method::contour);
  if (region.hyperbolic && !(width < kGoodIfHyperbolic)) {
    // It widens towards the ends of the region: one that is made for this eps.
    const Saddle own = saddle(plain_, eps, Strip::right, region.s_chernoff);
    if (std::isfinite(own.at.value))
      intersect(HyperbolicContour::at(loss_, own, eps), Method::contour);
  }
  intersect(region.right, Method::contour);
  intersect(region.exchanged, Method::contour);
  intersect(region.split, Method::split);
  if (!(width < kGoodIfRare)) {
    point.log = intersected(point.log, {single_steps_->log_some_sampled(eps), 0.0});
  }
  return point;
}

/// delta(eps) = 1 - e^eps + e^eps delta of the pair exchanged, at -eps.
DeltaCurve::Point DeltaCurve::exchanged_at(double eps) {
  if (!exchanged_curve_) exchanged_curve_ = std::make_unique<DeltaCurve>(exchanged(loss_));
  const Point other = exchanged_curve_->at(-eps);
  const double floor = std::log(-std::expm1(eps));
  return {{log_add_exp(floor, eps + other.log.log_lo) - 8.0 * kUnit,
           std::min(0.0, log_add_exp(floor, eps + other.log.log_hi) + 8.0 * kUnit)},
          other.method,
          kNaN};
}

DeltaCurve::Point DeltaCurve::contour_at(double eps, Strip strip) {
  std::optional<Contour>& kept = strip == Strip::right ? right_ : middle_;
  double chernoff = 0.0;
  if (!kept || !kept->serves(eps)) {
    const double begin = strip == Strip::middle ? -0.5
                         : last_saddle_ > 0.0   ? last_saddle_
                                                : normal_saddle(start(), eps);
    const Saddle at = saddle(plain_, eps, strip, begin);
    if (strip == Strip::right) {
      chernoff = chernoff_term(at.s) + at.at.value + at.at.error - at.s * eps +
                 8.0 * kUnit * (at.s * std::fabs(eps) + 10.0);
      // The next eps is near this one, and so is its saddle.
      last_saddle_ = at.s;
    }
    kept = strip == Strip::right ? right_contour(at, eps)
                                 : Contour::through(plain_, at, strip, eps, &work_);
  }
  Point point{{-kInf, 0.0}, Method::contour, kNaN};
  if (chernoff < 0.0) point.log.log_hi = chernoff;
  if (kept) {
    point.log = intersected(point.log, kept->enclosure(eps));
    point.log = intersected(point.log, {-kInf, kept->log_chernoff(eps)});
    if (strip == Strip::right) point.log_slope = kept->log_slope(eps);
  }
  return point;
}

/// Where one rare, large loss has as much of the tilted distribution as the unsampled part of them, the saddle stands on a kink of K, and to the left of it the
/// tilted distribution is that of the unsampled part. The value is the same there; the sum has the digits that e^{K(s) - s eps} gains from the saddle less.
std::optional<Contour> DeltaCurve::left_of_saddle(const Saddle& at, double eps) {
  const double least = at.at.value - at.s * eps;
  for (const double share : {0.85, 0.7, 0.5}) {
    const double s = share * at.s;
    const Saddle left{s, plain_.at(s)};
    if (!(left.at.value - s * eps < least + kMostDigitsLost)) break;
    Work little = scaled(kLittleWork);
    auto found = Contour::through(plain_, left, Strip::right, eps, &little);
    if (is_narrow(found, eps)) return found;
  }
  return std::nullopt;
}

std::optional<Contour> DeltaCurve::right_contour(const Saddle& at, double eps) {
  if (at.is_capped) return left_of_saddle(at, eps);
  const bool bends = at.at.variance > 4.0 * plain_.at(0.85 * at.s).variance;
  if (bends) {
    if (auto left = left_of_saddle(at, eps)) return left;
  }
  auto found = Contour::through(plain_, at, Strip::right, eps, &work_);
  if (!bends && !is_narrow(found, eps)) {
    if (auto left = left_of_saddle(at, eps)) return left;
  }
  return found;
}

void DeltaCurve::intersect_split(double eps, Point* point) {
  if (!split_ || !split_->serves(eps)) {
    split_.reset();
    split_ = SplitContour::at(loss_, eps, &work_);
  }
  if (!split_) return;
  point->log = intersected(point->log, split_->enclosure(eps));
  point->method = Method::split;
  point->log_slope = split_->log_slope(eps);
}

double DeltaCurve::threshold_guess(double fpr) {
  const TotalCumulant& q = exchanged_start();  // of -T under Q
  const double normal = -q.mean + std::sqrt(q.variance) * normal_tail_point(fpr);
  return single_steps_ ? std::max(normal, single_steps_->threshold_of(fpr)) : normal;
}

std::optional<double> DeltaCurve::guess(double log_target) {
  if (loss_.steps.empty() && loss_.mu_squared == 0.0) return std::nullopt;
  if (leads_by_sampled()) {
    // The threshold by some sampled step alone, or a normal loss as wide as that of Q: delta is about sd phi(x) / (1 + x^2) at x sd.
    const double sd = std::sqrt(exchanged_start().variance);
    double x = 0.0;
    for (int i = 0; i < 20; ++i) {
      const double excess = std::log(0.4 * sd) - log_target - std::log1p(x * x);
      x = excess > 0.0 ? std::sqrt(2.0 * excess) : 0.0;
    }
    return std::max({single_steps_->eps_of(log_target), x * sd, kSmallest});
  }
  // The saddle of eps is s where eps = K'(s) - 1/s - 1/(1+s); there log delta is about
  // K(s) - s eps - log s (1+s) - log(2 pi g'') / 2, which falls with s.
  const auto at = [&](double s) {
    const TotalCumulant k = plain_.at(s);
    const double eps = k.mean - 1.0 / s - 1.0 / (1.0 + s);
    const double g2 = k.variance + 1.0 / (s * s) + 1.0 / ((1.0 + s) * (1.0 + s));
    return std::pair(eps, k.value - s * eps - std::log(s) - std::log1p(s) -
                              0.5 * std::log(2.0 * std::numbers::pi * g2) - log_target);
  };
  // A normal loss: log delta is about -(s sigma)^2 / 2.
  const double sigma = std::sqrt(std::max(start().variance, 1e-300));
  double s = std::clamp(std::sqrt(-2.0 * std::min(log_target, -0.1)) / sigma, 1e-290,
                        plain_.highest_abscissa());
  double low = 0.0, high = kInf, eps = 0.0;
  for (int i = 0; i < 60; ++i) {
    const auto [eps_here, f] = at(s);
    eps = eps_here;
    if (!std::isfinite(f)) return std::nullopt;
    if (std::fabs(f) < 0.02) break;
    if (f > 0.0) {
      if (s >= plain_.highest_abscissa()) return std::nullopt;
      low = s;
    } else {
      high = s;
    }
    // log delta is about quadratic in s.
    const double value = f + log_target;
    double next = s * std::sqrt(std::clamp(log_target / std::min(value, -0.05), 0.1, 10.0));
    if (!(next > low && next < high))
      next = low > 0.0 && high < kInf ? std::sqrt(low * high) : next;
    next = std::min({std::max(next, 1.001 * low), 0.999 * high, plain_.highest_abscissa()});
    if (std::fabs(next - s) < 1e-6 * s) break;
    s = next;
  }
  last_saddle_ = s;
  return eps;
}

}  // namespace sfumato
