#include "sfumato/divergence/gaussian_tradeoff.hpp"

#include <algorithm>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <cstdint>
#include <utility>

#include "sfumato/core/check.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/vertex_rounding.hpp"

namespace sfumato {
namespace {

constexpr double kSeen = 1e-5;     ///< of a number whose fourth digit is read
constexpr double kFarthest = 1e6;  ///< thresholds beyond it are not searched for

/// Root of a decreasing concave function on (low, high), high possibly infinite, by Newton's method
/// kept inside a bracket. `f(x)` returns {value, derivative}.
template <class F>
double decreasing_root(F&& f, double low, double high, double start) {
  double x = start;
  for (int iteration = 0; iteration < 300; ++iteration) {
    const auto [value, derivative] = f(x);
    (value > 0.0 ? low : high) = x;
    double next = x - value / derivative;
    // Past the largest value of a loss that is bounded but for rounding, f is -1e17 and its slope, a
    // difference of such numbers, means nothing.
    const bool newton = std::abs(value) < 1e6 && next >= low && next <= high;
    if (!newton) {
      next = high == kInf ? x + 2.0 * std::max(x - low, 1e-3 * (1.0 + std::abs(x)))
                          : 0.5 * (low + high);
    }
    // f is a log ratio: a Newton step from 1e-6 leaves about its square.
    if ((newton && std::abs(value) < 1e-6) || std::abs(next - x) <= 1e-15 * std::abs(x))
      return next;
    x = next;
  }
  return high;
}

/// The search begins at the mean and goes in steps of the deviation.
void require_in_range(const PrivacyLoss& loss) {
  if (std::isfinite(loss.mean_p) && std::isfinite(loss.variance_p) && std::isfinite(loss.mean_q)) {
    return;
  }
  throw NumericalFailure("the distributions are too far apart for double precision",
                         "Use more noise or bounded records");
}

}  // namespace

Claimed<Epsilon> gaussian_epsilon(const PrivacyLoss& forward, const PrivacyLoss& reverse,
                                  Delta delta) {
  const char* method = "Gaussian hockey-stick, inverted";
  const double target = delta.probability();
  const HockeyStick at_zero = gaussian_hockey_stick(forward, reverse, 0.0);
  const double highest = range_of(forward).highest;
  // Where delta moves by what the distributions and the integral may lack, the root moves by `lack` / slope.
  const double lack = target == 0.0 ? 0.0 : 1e-8 * (1.0 + std::abs(std::log(target))) * target;
  if (at_zero.delta + lack <= target) return {Epsilon{0.0}, at_zero.claim, method};
  if (forward.dropped > 1e-10 * std::sqrt(forward.variance_p)) {
    // Distributions so near to each other that variances which were taken to be equal count. Their part R of the loss has
    // log E e^{sR} <= 0.05 at s = 1 / (4 dropped), so that P(R > r) <= e^{0.05 - s r}; the two parts compose.
    if (target == 0.0) return {Epsilon{kInf}, Claim::upper_bound, method};
    PrivacyLoss rest = forward, rest_reverse = reverse;
    rest.dropped = rest_reverse.dropped = 0.0;
    const Epsilon base = gaussian_epsilon(rest, rest_reverse, Delta{0.5 * target}).value;
    return {Epsilon{base.nats() + 4.0 * forward.dropped * (std::log(2.0 / target) + 0.05)},
            Claim::upper_bound, method};
  }
  if (target == 0.0) return {Epsilon{std::max(0.0, highest)}, Claim::exact, method};
  require_in_range(forward);
  // log delta is concave for a normal loss and close to it otherwise: Newton from the right of the
  // root takes four or five steps.
  Claim claim = Claim::exact;
  const double log_target = std::log(target);
  const auto excess = [&](double eps) {
    const HockeyStick h = gaussian_hockey_stick(forward, reverse, eps);
    const double log_delta = std::max(h.log_delta, -1e300);
    // A bound that is small enough is as good as the value; one that is too large may mislead.
    if (h.claim != Claim::exact && log_delta > log_target) claim = h.claim;
    return std::pair{log_delta - log_target, -std::exp(eps + h.log_tail_q - log_delta)};
  };
  const auto settled = [&](double root) -> Claimed<Epsilon> {
    const HockeyStick h = gaussian_hockey_stick(forward, reverse, root);
    const double margin = lack / std::exp(root + h.log_tail_q);
    if (margin < kSeen * root) return {Epsilon{root}, claim, method};
    return {Epsilon{std::min(highest, root + margin)}, Claim::upper_bound, method};
  };
  if (at_zero.delta <= target) return settled(0.0);
  // Right of the root for a normal loss: P(L > eps) <= exp(-z^2/2).
  const double start =
      forward.mean_p + std::sqrt(forward.variance_p) * std::sqrt(-2.0 * log_target);
  if (start < 0.25 * highest) {
    const double root = decreasing_root(excess, 0.0, highest, start);
    if (root == highest) claim = Claim::upper_bound;  // the search ran out of steps
    return settled(root);
  }
  // Near the largest value of the loss delta falls like a power of the distance from it, so that
  // its logarithm is nearly linear in x = -log(highest - eps).
  const auto distance_excess = [&](double x) {
    const double distance = std::exp(-x);
    const auto [value, derivative] = excess(highest - distance);
    return std::pair{value, derivative * distance};
  };
  const double x =
      decreasing_root(distance_excess, -std::log(highest), kInf, -std::log(0.5 * highest));
  if (x == kInf) claim = Claim::upper_bound;  // the search ran out of steps
  return settled(std::max(0.0, highest - std::exp(-x)));
}

Claimed<Epsilon> gaussian_epsilon(const WhitenedPair& pair, Delta delta) {
  if (pair.mutually_singular) {
    return {Epsilon{delta.probability() < 1.0 ? kInf : 0.0}, Claim::exact,
            "mutually singular distributions"};
  }
  return gaussian_epsilon(privacy_loss(pair), privacy_loss(swapped(pair)), delta);
}

Claimed<double> gaussian_tpr(const WhitenedPair& pair, double fpr) {
  require_probability("fpr", fpr);
  const char* method = "Gaussian trade-off curve, dual of the hockey-stick";
  if (pair.mutually_singular || fpr == 1.0) return {1.0, Claim::exact, method};
  const PrivacyLoss forward = privacy_loss(pair);
  const PrivacyLoss reverse = privacy_loss(swapped(pair));
  if (forward.terms.empty() && forward.linear == 0.0) return {fpr, Claim::exact, method};
  if (fpr == 0.0) return {0.0, Claim::exact, method};  // both distributions have densities
  const LossRange range = range_of(forward);
  const double log_fpr = std::log(fpr);
  const HockeyStick at_zero = gaussian_hockey_stick(forward, reverse, 0.0);
  // Distributions that hardly overlap, with losses beyond all thresholds: the test L > 0 has a rate above 0.9999 already.
  if (forward.mean_q < -kFarthest && 1.0 - at_zero.delta < 1e-4 && at_zero.log_tail_q <= log_fpr) {
    return {1.0, Claim::upper_bound, method};
  }
  int unsettled = 0;  // tails for which no contour was found, each of which takes long
  const auto gave_up = [&] { return unsettled > 6; };
  const auto excess = [&](double eps) {  // log Q(L > eps) - log fpr
    if (gave_up()) return 0.0;           // which ends the search
    const double log_tail = gaussian_log_tail(forward, reverse, eps);
    if (log_tail == 0.0 && eps > range.lowest) ++unsettled;
    return (log_tail > -1e4 ? log_tail : -1e4) - log_fpr;  // NaN counts as no tail
  };
  double low = forward.mean_q;
  double high = forward.mean_q;
  for (double step = std::sqrt(forward.variance_p);
       low > range.lowest && low > -kFarthest && excess(low) < 0.0; step *= 2.0) {
    low = std::max(range.lowest, low - step);
  }
  for (double step = std::sqrt(forward.variance_p);
       high < range.highest && high < kFarthest && excess(high) > 0.0; step *= 2.0) {
    high = std::min(range.highest, high + step);
  }
  if (low < high && excess(low) > 0.0 && excess(high) < 0.0) {
    // In asinh(eps): where one variance is 1e20 of the other, the mean under Q is -1e20 and the threshold near 0.
    std::uintmax_t iterations = 200;
    const auto [left, right] = boost::math::tools::toms748_solve(
        [&](double x) { return excess(std::sinh(x)); }, std::asinh(low), std::asinh(high),
        boost::math::tools::eps_tolerance<double>(50), iterations);
    low = std::clamp(std::sinh(left), low, high);
    high = std::clamp(std::sinh(right), low, high);
  }
  // Every threshold bounds the rate. Right of the largest value of the loss delta is 0, and for a tiny
  // fpr, whose own threshold double precision cannot tell from that value, nothing is lost there.
  double tpr =
      std::min({1.0, fpr + at_zero.delta,
                std::exp(range.highest + vertex_rounding(forward, range.highest) + log_fpr)});
  Claim claim = Claim::upper_bound;
  for (const double eps : {low, high}) {
    const HockeyStick h = gaussian_hockey_stick(forward, reverse, eps);
    const double bound = h.delta + std::exp(eps + log_fpr);
    // Attained where the tail is fpr: the gap is of second order in the distance from there. Near the top
    // of a bounded loss the threshold has few digits left, and what is found is a bound.
    const bool sharp = std::abs(excess(eps)) < 1e-6 && !gave_up() && eps < 0.9 * range.highest &&
                       std::abs(eps) < kFarthest && bound <= tpr * (1.0 + 1e-9);
    if (sharp) claim = h.claim;
    tpr = std::min(tpr, bound);
  }
  return {tpr, claim, method};
}

}  // namespace sfumato
