#include "sfumato/divergence/gaussian_hockey_stick.hpp"

#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <optional>

#include "sfumato/core/check.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/fast_complex.hpp"
#include "sfumato/divergence/gdp.hpp"
#include "sfumato/divergence/vertex_rounding.hpp"

namespace sfumato {
namespace {

using Complex = std::complex<double>;
/// The integrand falls at least like e^{-w/2}: this leaves 1e-33 of it, whatever the ratio of scales.
constexpr double kFarthestNode = 150.0;

/// Where the contour may cross the real axis.
struct Strip {
  double low;
  double high;  ///< +inf when no lam_i is below 1
};

Strip right_strip(const PrivacyLoss& loss) {
  double high = kInf;
  for (const auto& term : loss.terms) {
    if (term.a > 0.0) high = std::min(high, 0.5 / term.a);  // = lam / (1 - lam)
  }
  return {0.0, high};
}

/// g(s) = log M(s) - log|s| - log|1 + s| (M with e^{-s eps} inside) and two derivatives.
CumulantDerivatives contour_exponent(const PrivacyLoss& loss, double eps, double s) {
  CumulantDerivatives g = cumulant(loss, eps, s);
  g.value -= std::log(std::abs(s)) + std::log1p(s);
  g.first -= 1.0 / s + 1.0 / (1.0 + s);
  g.second += 1.0 / (s * s) + 1.0 / ((1.0 + s) * (1.0 + s));
  return g;
}

/// The point where the convex g is smallest, to a few digits: any crossing point gives the right
/// integral, a good one gives it without cancellation.
double saddle_point(const PrivacyLoss& loss, double eps, Strip strip) {
  double low = strip.low;
  double high = strip.high;
  double s = 0.0;
  if (low < 0.0) {
    s = -0.5;
  } else {
    // Start from the saddle of a normal L: s v + (mean - eps) = 1/s, never at the far end.
    const double lag = eps - loss.mean_p;
    const double v = loss.variance_p;
    s = (lag + std::sqrt(lag * lag + 4.0 * v)) / (2.0 * v);
    if (!(s < high)) s = 0.5 * high;
  }
  for (int iteration = 0; iteration < 200; ++iteration) {
    const CumulantDerivatives g = contour_exponent(loss, eps, s);
    (g.first > 0.0 ? high : low) = s;
    double next = s - g.first / g.second;
    const bool inside = next > low && next < high;
    if (inside && std::abs(next - s) * std::sqrt(g.second) < 1e-2) return next;
    if (!inside) {
      if (high == kInf) {
        next = 4.0 * s;
      } else if (low > 0.0) {
        next = std::sqrt(low) * std::sqrt(high);  // s may range over hundreds of decades
      } else {
        next = low == 0.0 ? 1e-2 * high : 0.5 * (low + high);
      }
    }
    s = next;
  }
  return s;
}

/// Integrals of F and of s F along the contour, divided by F(s0) = +-e^{g0}; F = e^{-s eps} M(s)/(s(s+1)).
struct ContourSums {
  double delta;
  double tail;
};

/// One bent contour (Spec §3.3, steps 3 and 4).
class Contour {
 public:
  Contour(const PrivacyLoss& loss, double eps, double s0, double width, double bend)
      : ratio_(loss, eps, s0), s0_(s0), width_(width), bend_(bend), scale_(s0 * (1.0 + s0)) {}

  /// Trapezoidal rule, halved until two sums agree; empty when the integrand rises (the sum would
  /// cancel) or the sums do not settle.
  [[nodiscard]] std::optional<ContourSums> integrate() const {
    constexpr double first_step = 0.2;
    constexpr int max_halvings = 7;
    constexpr int most_nodes = 20'000;  // in a sum that has not settled by then, rounding does not
    constexpr double agreement = 1e-11;
    double end = 0.0;
    ContourSums sums{0.0, 0.0};
    // First pass: find where the integrand has died out.
    int quiet = 0;
    for (int k = 0; quiet < 2; ++k) {
      const double w = first_step * k;
      if (w > kFarthestNode) break;
      const Node node = evaluate(w);
      if (node.modulus > 3.0 * width_) return std::nullopt;
      const double weight = k == 0 ? 0.5 : 1.0;
      sums.delta += weight * node.delta;
      sums.tail += weight * node.tail;
      quiet = node.modulus < 1e-18 * width_ && std::abs(node.tail) < 1e-18 * width_ ? quiet + 1 : 0;
      end = w;
    }
    double step = first_step;
    ContourSums previous{sums.delta * step, sums.tail * step};
    for (int halving = 0; halving < max_halvings; ++halving) {
      const auto midpoints = static_cast<int>(std::lround(end / step));
      if (midpoints > most_nodes) break;
      for (int k = 0; k < midpoints; ++k) {
        const Node node = evaluate((k + 0.5) * step);
        if (node.modulus > 3.0 * width_) return std::nullopt;
        sums.delta += node.delta;
        sums.tail += node.tail;
      }
      step *= 0.5;
      const ContourSums current{sums.delta * step, sums.tail * step};
      if (std::abs(current.delta - previous.delta) <= agreement * std::abs(current.delta)) {
        if (!(current.delta > 0.0)) return std::nullopt;
        return ContourSums{current.delta / std::numbers::pi, current.tail / std::numbers::pi};
      }
      previous = current;
    }
    return std::nullopt;
  }

 private:
  struct Node {
    double delta;
    double tail;
    double modulus;
  };

  [[nodiscard]] Node evaluate(double w) const {
    using namespace fast_complex;
    const double e = std::exp(w);
    const double y = 0.5 * width_ * (e - 1.0 / e);
    const double rho = 0.5 * width_ * (e + 1.0 / e);
    const Complex s{s0_ + bend_ * (rho - width_), y};
    const Complex velocity{scale_ * bend_ * y, scale_ * rho};  // ds/dw, relative to 1 / F(s0)
    const Complex poles = inverse(times(s, 1.0 + s));
    const Complex value = times(times(ratio_(s), velocity), poles);
    const double modulus = std::sqrt(squared_modulus(value));
    if (!std::isfinite(modulus)) return {0.0, 0.0, 0.0};
    return {value.imag(), times(s, value).imag(), modulus};
  }

  MomentRatio ratio_;
  double s0_;
  double width_;
  double bend_;
  double scale_;  ///< s0 (1 + s0), whose sign is that of F(s0)
};

struct StripIntegral {
  double log_scale;  ///< g0
  std::optional<ContourSums> sums;
  double s0;
};

StripIntegral integrate_strip(const PrivacyLoss& loss, double eps, Strip strip) {
  const double s0 = saddle_point(loss, eps, strip);
  const CumulantDerivatives g = contour_exponent(loss, eps, s0);
  const double width = 1.0 / std::sqrt(g.second);
  double vertex = 0.5 * loss.linear * loss.linear - eps;
  for (const auto& term : loss.terms) vertex += term.count * term.vertex;
  const double sign = vertex > 0.0 ? -1.0 : 1.0;
  StripIntegral result{g.value, std::nullopt, s0};
  // The vertex speaks of |s| -> inf. With some |a_i| tiny and b_i^2 / a_i not, the integrand dies long
  // before, where the other terms decide: then the other side is the right one (Spec §3.3 tries one).
  for (const double bend : {0.45, 0.3, 0.2, 0.1, 0.05, 0.02}) {
    for (const double side : {sign, -sign}) {
      result.sums = Contour(loss, eps, s0, width, side * bend).integrate();
      if (result.sums) return result;
    }
  }
  result.sums = Contour(loss, eps, s0, width, 0.0).integrate();
  return result;
}

/// A value where a double has its digits, a bound where it has not: below the least normal number, and
/// for what is left to 1, of which two are printed, below 1e-13.
HockeyStick with_digits(HockeyStick h) {
  constexpr double least_complement = 1e-13;
  if (h.delta >= 1.0 - least_complement) return {1.0, 0.0, h.log_tail_q, Claim::upper_bound};
  constexpr double log_least = -746.0;  // of half the least double
  if (h.delta < std::numeric_limits<double>::min() && h.log_delta > log_least) {
    h.delta = std::numeric_limits<double>::min();
    h.claim = Claim::upper_bound;
  }
  return h;
}

HockeyStick clipped(HockeyStick h, double eps) {
  // Distributions so far apart that the integral has no digits left: nothing better than 1 is known.
  if (!(h.delta > -1e-9 && h.delta < 1.0 + 1e-9)) return {1.0, 0.0, 0.0, Claim::upper_bound};
  const double floor = std::max(0.0, -std::expm1(eps));
  // A positive delta that underflows is rounded up, never to "no leak".
  if (h.delta == 0.0) {
    h.delta = std::numeric_limits<double>::denorm_min();
    h.claim = Claim::upper_bound;
  }
  if (h.delta < floor) {
    h.delta = floor;
    h.log_delta = std::log(floor);
  }
  return with_digits(h);
}

/// eps at or above the mean of L under P, roughly: s0 in (0, s_max).
HockeyStick from_right(const PrivacyLoss& loss, double eps) {
  Claim claim = Claim::exact;
  const double highest = range_of(loss).highest;
  if (highest < kInf) {
    // delta falls to 0 at `highest`, like a power of the distance. Where few digits of the distance
    // are left, the value a little to the left, which is larger, bounds the one here.
    const double rounding = vertex_rounding(loss, eps);
    if (eps >= highest + rounding) return {0.0, -kInf, -kInf, Claim::exact};
    if (highest - eps < 1e9 * rounding) {
      eps = std::min(eps, highest) - 2.0 * rounding;
      claim = Claim::upper_bound;
    }
  }
  const StripIntegral strip = integrate_strip(loss, eps, right_strip(loss));
  if (strip.sums) {
    const double scale = std::exp(strip.log_scale);
    return clipped({scale * strip.sums->delta, strip.log_scale + std::log(strip.sums->delta),
                    strip.log_scale + std::log(std::max(0.0, strip.sums->tail)) - eps, claim},
                   eps);
  }
  // Spec §3.3, step 5: the Renyi bound of Spec §4.3 at order 1 + s0.
  const double s0 = strip.s0;
  const double log_bound = strip.log_scale + std::log(s0) + s0 * std::log(s0 / (1.0 + s0));
  return clipped({std::exp(log_bound), log_bound, log_bound - eps, Claim::upper_bound}, eps);
}

/// Between the two means: s0 in (-1, 0), where the residue at 0 contributes 1.
HockeyStick from_middle(const PrivacyLoss& loss, double eps) {
  const StripIntegral strip = integrate_strip(loss, eps, {-1.0, 0.0});
  if (!strip.sums) return {1.0, 0.0, 0.0, Claim::upper_bound};
  const double scale = std::exp(strip.log_scale);
  // F(s0) < 0 on this strip, hence the signs.
  const double delta = 1.0 - scale * strip.sums->delta;
  return clipped({delta, std::log1p(-scale * strip.sums->delta),
                  strip.log_scale + std::log(std::max(0.0, -strip.sums->tail)) - eps, Claim::exact},
                 eps);
}

HockeyStick of_loss(const PrivacyLoss& forward, const PrivacyLoss& reverse, double eps) {
  if (std::isnan(eps)) {
    throw InvalidArgument("eps is not a number", "Pass a threshold on the log ratio");
  }
  if (eps == kInf) return {0.0, -kInf, -kInf, Claim::exact};
  if (eps == -kInf) return {1.0, 0.0, 0.0, Claim::exact};
  if (forward.terms.empty()) {
    const GdpDelta g = gdp_delta(forward.linear, eps);
    // A positive delta that underflows is rounded up, as in clipped().
    if (g.delta == 0.0 && g.log_delta > -kInf) {
      return {std::numeric_limits<double>::denorm_min(), g.log_delta, g.log_tail_q,
              Claim::upper_bound};
    }
    return with_digits({g.delta, g.log_delta, g.log_tail_q, Claim::exact});
  }
  if (eps <= range_of(forward).lowest) {
    return {-std::expm1(eps), std::log(-std::expm1(eps)), 0.0, Claim::exact};
  }
  if (eps >= forward.mean_p - std::sqrt(forward.variance_p)) {
    const HockeyStick h = from_right(forward, eps);
    if (h.delta < 0.9) return h;
    // Close to 1 the other strip, which gives 1 - delta, has the digits.
    const HockeyStick complement = from_middle(forward, eps);
    return complement.claim == Claim::exact ? complement : h;
  }
  if (eps <= forward.mean_q) {
    const HockeyStick h = from_right(reverse, -eps);
    const double delta = -std::expm1(eps) + std::exp(eps) * h.delta;
    // Q(L > eps) = 1 - Q(-L >= -eps), and in the exchanged pair Q(-L > x) = delta(x) + e^x P(-L > x).
    const double complement = h.delta + std::exp(h.log_tail_q - eps);
    return clipped({delta, std::log(delta), std::log1p(-std::min(1.0, complement)), h.claim}, eps);
  }
  return from_middle(forward, eps);
}

}  // namespace

HockeyStick gaussian_hockey_stick(const PrivacyLoss& forward, const PrivacyLoss& reverse,
                                  double eps) {
  HockeyStick h = of_loss(forward, reverse, eps);
  // Variances that were taken to be equal change delta by at most e^eps TV(N(0, 1), N(0, lam)) each, less
  // than a quarter of e^eps |lam - 1|: it matters where the distributions are that near to each other.
  const double scale = std::sqrt(forward.variance_p);
  if (forward.dropped > 1e-10 * scale && std::fabs(eps) < 100.0 * (scale + forward.dropped)) {
    h.delta += 0.25 * std::exp(eps) * forward.dropped;
    h.log_delta = std::log(h.delta);
    h.claim = Claim::upper_bound;
  }
  return h;
}

double gaussian_log_tail(const PrivacyLoss& forward, const PrivacyLoss& reverse, double eps) {
  const bool below_mean =
      eps < forward.mean_p && eps >= forward.mean_p - std::sqrt(forward.variance_p);
  if (below_mean && eps > forward.mean_q && !forward.terms.empty()) {
    // The right strip would give the tail as a small difference: its saddle lies left of 0 here.
    const HockeyStick h = from_middle(forward, eps);
    if (h.claim == Claim::exact) return h.log_tail_q;
  }
  return gaussian_hockey_stick(forward, reverse, eps).log_tail_q;
}

HockeyStick gaussian_hockey_stick(const WhitenedPair& pair, double eps) {
  if (pair.mutually_singular) return {1.0, 0.0, -kInf, Claim::exact};
  return gaussian_hockey_stick(privacy_loss(pair), privacy_loss(swapped(pair)), eps);
}

Claimed<double> gaussian_total_variation(const WhitenedPair& pair) {
  const HockeyStick h = gaussian_hockey_stick(pair, 0.0);
  return {h.delta, h.claim, "Gaussian hockey-stick at epsilon 0"};
}

}  // namespace sfumato
