#include "sfumato/risk/kl_conversion.hpp"

#include <algorithm>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include "sfumato/core/check.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/math/special.hpp"

namespace sfumato {
namespace {

// The steps below lose at most a few dozen units in the last place (their subtractions have
// condition numbers below 10); against 60 digits the largest error seen was 3e-15.
constexpr double kSlack = 1e-12;
// Below it u^2/2 leaves the normal range. The bounds increase with kl, so a larger kl is valid.
constexpr double kSmallestKl = 1e-300;
// The sharp bounds are at least 1 - e^{eps - kl} (forward) and 1 - e^{-kl} (reverse): above this
// they are 1 to rounding.
constexpr double kCertain = 38.0;
// From here on lambda / expm1(lambda) of the reverse family is below 1e-280.
constexpr double kReverseLimit = 6.5;

double round_up(double value) { return std::nextafter(value * (1.0 + kSlack), kInf); }

double round_up_to_one(double value) { return std::min(1.0, round_up(value)); }

template <class T>
Claimed<T> bound(T value, std::string method) {
  return {value, Claim::upper_bound, std::move(method), {"the given KL is KL(p||q) or above it"}};
}

/// e^x - 1 - x.
double expm1_minus(double x) {
  // e^x - 1 - x = psi(e^x); far from 0 the direct form loses less than two bits.
  return std::abs(x) < 0.5 ? psi_of_excess(std::expm1(x)) : std::expm1(x) - x;
}

// The next term of both series below is l^4/720; the quotients underflow for l < 1e-154.
constexpr double kSeries = 1e-4;

/// h(l) - 1 for h(l) = l / (1 - e^{-l}), l > 0.
double h_excess(double l) {
  return l < kSeries ? l * (0.5 + l / 12.0) : expm1_minus(-l) / -std::expm1(-l);
}

/// 1 - b(l) for b(l) = l / (e^l - 1) = h(l) - l, l > 0.
double one_minus_b(double l) {
  return l < kSeries ? l * (0.5 - l / 12.0) : expm1_minus(l) / std::expm1(l);
}

/// The l with log((e^l - 1) / l) = value; the function is l - log h(l), convex, slope (h - 1)/l.
double invert_log_mean_exp(double value) {
  double l = value + std::log1p(value);  // right to first order at both ends
  for (int step = 0; step < 50 && l > 0.0; ++step) {
    const double excess = h_excess(l);
    const double change = (l - std::log1p(excess) - value) * l / excess;
    l -= change;
    if (std::abs(change) <= 4e-16 * l) break;
  }
  return l;
}

/// The l with h(l) - 1 = excess; h is convex with slope (1 - b) / (1 - e^{-l}).
double invert_h(double excess) {
  double l = excess * (2.0 + excess) / (1.0 + excess);  // right to first order at both ends
  for (int step = 0; step < 50 && l > 0.0; ++step) {
    const double slope = one_minus_b(l) / -std::expm1(-l);
    const double change = (h_excess(l) - excess) / slope;
    l -= change;
    if (std::abs(change) <= 4e-16 * l) break;
  }
  return l;
}

/// A point of the curve kl -> largest delta, which is increasing and concave from (0, 0), and its
/// slope there: kl' -> delta + slope (kl' - kl) is above the whole curve.
struct CurvePoint {
  double kl;
  double delta;
  double slope;
};

/// Stationarity of x - e^eps y - s (kl(x||y) - kl) in x and y gives, with l = 1/s the difference of
/// the log odds of x and y and u = log((1-y)/(1-x)) >= 0,
///
///   log((e^l - 1)/l) = eps + u,   x = (1 - e^{-u})/(1 - e^{-l}),   y = (e^u - 1)/(e^l - 1),
///   kl = l x - u,                 delta = (1 - e^{-u}) (h(l) - 1)/l,
///
/// which is the dual of Spec §4.2 with s eliminated. Here no term cancels, however small u is.
CurvePoint forward_point(double epsilon, double u) {
  const double l = invert_log_mean_exp(epsilon + u);
  if (l == 0.0) return {0.0, 0.0, kInf};
  const double excess = h_excess(l);
  const double gain = -std::expm1(-u);
  // Both are h (1 - e^{-u}) - u: the first subtracts at most half of itself while u <= 1, the second
  // has h - u already replaced by its value.
  const double kl =
      u <= 1.0 ? excess * gain - expm1_minus(-u)
               : l / std::expm1(l) + std::log1p(excess) + epsilon - (1.0 + excess) * std::exp(-u);
  return {kl, gain * excess / l, 1.0 / l};
}

/// The same for y - e^eps x, with l = e^eps/s and w = log((1-x)/(1-y)):
///
///   log h(l) = eps + w,   x = (e^w - 1)/(e^l - 1),   y = (1 - e^{-w})/(1 - e^{-l}),
///   kl = w - l x,         delta = y (1 - b(l)).
CurvePoint reverse_point(double epsilon, double w) {
  if (epsilon + w > kReverseLimit) return {w, -std::expm1(-w), std::exp(-w)};
  const double l = invert_h(std::expm1(epsilon + w));
  if (l == 0.0) return {0.0, 0.0, kInf};
  const double b = l / std::expm1(l);
  const double y = -std::expm1(-w) / -std::expm1(-l);
  return {w * one_minus_b(l) - b * expm1_minus(w), y * one_minus_b(l),
          std::exp(-w) / -std::expm1(-l)};
}

/// The curve's value at `kl` from the tangent at the parameter where it is reached. A parameter
/// that is slightly off still gives an upper bound, off by the square of the error.
template <class Point>
double tangent_bound(double kl, double epsilon, const Point& point) {
  constexpr double lowest = -700.0;  // e^-700 = 1e-304
  const auto log_ratio = [&](double log_parameter) {
    const double reached = point(epsilon, std::exp(log_parameter)).kl;
    return std::log(std::max(reached, std::numeric_limits<double>::min())) - std::log(kl);
  };
  double high = 0.5 * std::log(2.0 * kl);  // the solution for eps = 0 and small kl
  double at_high = log_ratio(high);
  for (double step = 1.0; at_high < 0.0; step *= 2.0) at_high = log_ratio(high += step);
  double low = high;
  double at_low = at_high;
  for (double step = 1.0; at_low > 0.0; step *= 2.0) {
    if (low == lowest) return kInf;  // then kl times the slope at 0 is the bound, to rounding
    low = std::max(low - step, lowest);
    at_low = log_ratio(low);
  }
  if (low < high) {  // otherwise the guess was exact
    std::uintmax_t steps = 100;
    const auto close = [](double a, double b) { return b - a < 1e-8; };
    std::tie(low, high) =
        boost::math::tools::toms748_solve(log_ratio, low, high, at_low, at_high, close, steps);
  }
  const CurvePoint at = point(epsilon, std::exp(0.5 * (low + high)));
  return at.delta + at.slope * (kl - at.kl);
}

double pinsker(double kl) { return std::sqrt(0.5) * std::sqrt(kl); }  // kl/2 may underflow

template <class Point>
double sharp_bound(double kl, double epsilon, double certain, const Point& point) {
  if (kl == 0.0) return 0.0;
  if (kl >= certain) return 1.0;
  const double simple = std::min(pinsker(kl), kl * point(epsilon, 0.0).slope);
  const double tangent = tangent_bound(std::max(kl, kSmallestKl), epsilon, point);
  return round_up_to_one(std::min(simple, tangent));
}

double forward_bound(double kl, double epsilon) {
  if (kl < kInf && epsilon == kInf) return 0.0;
  return sharp_bound(kl, epsilon, epsilon + kCertain, forward_point);
}

double reverse_bound(double kl, double epsilon) {
  return sharp_bound(kl, epsilon, kCertain, reverse_point);
}

/// The smallest eps in [0, highest] with bound(eps) <= delta, rounded up; +inf if there is none.
template <class Bound>
double smallest_epsilon(double delta, double highest, const Bound& delta_at) {
  if (delta_at(0.0) <= delta) return 0.0;
  if (delta == 0.0 || highest == kInf || delta_at(highest) > delta) return kInf;
  const auto log_ratio = [&](double epsilon) {
    const double reached = delta_at(epsilon);
    const double ratio = std::log(reached) - std::log(delta);
    return reached > delta ? std::max(ratio, 1e-300) : ratio;  // the sign survives rounding
  };
  std::uintmax_t steps = 200;
  const auto close = [](double a, double b) { return b - a <= std::max(1e-12 * b, 1e-15); };
  // The right end is a point where the bound was evaluated and found small enough.
  return boost::math::tools::toms748_solve(log_ratio, 0.0, highest, close, steps).second;
}

/// kl(y + d || y) as a sum of two positive terms: y B(d/y) + (1-y) B(-d/(1-y)) with
/// B(r) = (1+r) log(1+r) - r.
double kl_to_rate(double y, double d) {
  const double up = d / y;
  const double down = d / (1.0 - y);
  const double rest = std::max(0.0, 1.0 - y - d);
  const double first =
      up < 0.5 ? y * (up * std::log1p(up) - psi_of_excess(up)) : (y + d) * std::log1p(up) - d;
  if (down < 0.5) return first + (1.0 - y) * (-down * std::log1p(-down) - psi_of_excess(-down));
  return first + (rest > 0.0 ? rest * std::log(rest / (1.0 - y)) : 0.0) + d;
}

/// kl(x || x + d) = x psi(1 + d/x) + (1-x) psi(1 - d/(1-x)).
double kl_from_rate(double x, double d) {
  return x * psi_of_excess(d / x) + (1.0 - x) * psi_of_excess(std::max(-1.0, -d / (1.0 - x)));
}

/// rate + d for the largest d with divergence(rate, d) <= kl, rounded up. As the divergence is
/// convex in d and 0 at 0, a relative error of it is at least as large as the one it causes in d.
template <class Divergence>
double largest_rate(double kl, double rate, const Divergence& divergence) {
  rate = std::max(rate, 1e-300);  // the result increases with the rate; below, d/rate overflows
  const double target = std::max(kl, kSmallestKl) * (1.0 + kSlack);
  double low = 1e-305;
  double high = std::min(1.0 - rate, round_up(pinsker(target)));
  for (int step = 0; step < 200 && high > low * (1.0 + 1e-14); ++step) {
    const double middle = std::sqrt(low) * std::sqrt(high);
    (divergence(rate, middle) >= target ? high : low) = middle;
  }
  return std::min(1.0, std::nextafter(rate + high, kInf));
}

}  // namespace

Claimed<double> pinsker_bound(Nats kl) {
  const double k = kl.value();
  return bound(k == 0.0 ? 0.0 : round_up(pinsker(k)), "Pinsker's inequality");
}

Claimed<double> bretagnolle_huber_bound(Nats kl) {
  const double k = kl.value();
  return bound(k == 0.0 ? 0.0 : round_up_to_one(std::sqrt(-std::expm1(-k))),
               "Bretagnolle-Huber inequality");
}

Claimed<double> total_variation_from_kl(Nats kl) {
  return bound(std::min({pinsker_bound(kl).value, bretagnolle_huber_bound(kl).value,
                         forward_bound(kl.value(), 0.0)}),
               "smallest of Pinsker, Bretagnolle-Huber and the sharp bound from KL");
}

Claimed<Delta> delta_from_kl_forward(Nats kl, Epsilon epsilon) {
  return bound(Delta(forward_bound(kl.value(), epsilon.nats())), "sharp bound from KL, forward");
}

Claimed<Delta> delta_from_kl_reverse(Nats kl, Epsilon epsilon) {
  return bound(Delta(reverse_bound(kl.value(), epsilon.nats())), "sharp bound from KL, reverse");
}

Claimed<Epsilon> epsilon_from_kl_forward(Nats kl, Delta delta) {
  const double k = kl.value();
  // delta <= kl / l with l > eps, so that eps = kl / delta is always enough.
  const double epsilon =
      smallest_epsilon(delta.probability(), k / delta.probability() * (1.0 + 1e-10),
                       [k](double eps) { return forward_bound(k, eps); });
  return bound(Epsilon(epsilon), "inverse of the sharp bound from KL, forward");
}

Claimed<Epsilon> epsilon_from_kl_reverse(Nats kl, Delta delta) {
  const double k = kl.value();
  // Beyond the limit the bound is 1 - e^{-kl} to rounding and falls no further.
  const double epsilon = smallest_epsilon(delta.probability(), 2.0 * kReverseLimit,
                                          [k](double eps) { return reverse_bound(k, eps); });
  return bound(Epsilon(epsilon), "inverse of the sharp bound from KL, reverse");
}

Claimed<double> tpr_from_kl_forward(Nats kl, double false_positive_rate) {
  const double rate = require_probability("false_positive_rate", false_positive_rate);
  const double k = kl.value();
  double tpr = 0.0;
  if (k == 0.0 || (rate == 0.0 && k < kInf)) {
    tpr = rate;
  } else if (k * (1.0 + kSlack) >= -std::log(rate)) {
    tpr = 1.0;
  } else {
    tpr = largest_rate(k, rate, kl_to_rate);
  }
  return bound(tpr, "largest true-positive rate at this KL, forward");
}

Claimed<double> tpr_from_kl_reverse(Nats kl, double false_positive_rate) {
  const double rate = require_probability("false_positive_rate", false_positive_rate);
  const double k = kl.value();
  double tpr = 0.0;
  if (k == 0.0) {
    tpr = rate;
  } else if (rate == 0.0) {
    tpr = round_up_to_one(-std::expm1(-k));
  } else if (rate == 1.0) {
    tpr = 1.0;
  } else {
    tpr = largest_rate(k, rate, kl_from_rate);
  }
  return bound(tpr, "largest true-positive rate at this KL, reverse");
}

}  // namespace sfumato
