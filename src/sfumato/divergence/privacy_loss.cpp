#include "sfumato/divergence/privacy_loss.hpp"

#include <cmath>

#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/fast_complex.hpp"

namespace sfumato {
namespace {

constexpr double kEqualRatio = 1e-15;  // rounding of a ratio (Spec §3.2)

bool far_from_pole(double a, double s) { return std::abs(2.0 * s * a) > 1.0; }

/// Adds coordinates whose variances differ, with this shift each.
void add_term(double ratio, double excess, double shift, double count, PrivacyLoss* loss) {
  const double a = -0.5 * excess / ratio;
  const double b = -shift / ratio;
  const double log_ratio = excess > -0.5 ? std::log1p(excess) : std::log(ratio);
  loss->terms.push_back({a, b, 0.5 * (log_ratio + shift * shift / ratio),
                         0.5 * (log_ratio + shift * shift / excess), count});
  loss->mean_p += count * (0.5 * (log_ratio + shift * shift / ratio) + a);
  loss->variance_p += count * (2.0 * a * a + b * b);
  loss->mean_q += count * 0.5 * (log_ratio - shift * shift - excess);
}

void add_linear(double slope_squared, PrivacyLoss* loss) {
  loss->linear = std::sqrt(slope_squared);
  loss->mean_p += 0.5 * slope_squared;
  loss->variance_p += slope_squared;
  loss->mean_q -= 0.5 * slope_squared;
}

}  // namespace

PrivacyLoss isotropic_loss(double dimension, double excess, double shift_squared) {
  PrivacyLoss loss;
  if (std::abs(excess) < kEqualRatio) {
    loss.dropped = dimension * std::abs(excess);
    add_linear(shift_squared, &loss);
    return loss;
  }
  // All of the shift stands in one coordinate.
  if (shift_squared > 0.0) add_term(1.0 + excess, excess, std::sqrt(shift_squared), 1.0, &loss);
  const double others = shift_squared > 0.0 ? dimension - 1.0 : dimension;
  if (others > 0.0) add_term(1.0 + excess, excess, 0.0, others, &loss);
  return loss;
}

PrivacyLoss privacy_loss(const WhitenedPair& pair) {
  require_comparable(pair);
  PrivacyLoss loss;
  double slope_squared = 0.0;
  for (Eigen::Index i = 0; i < pair.ratio.size(); ++i) {
    const double excess = pair.excess(i);
    const double shift = pair.shift(i);
    if (std::abs(excess) < kEqualRatio) {
      slope_squared += shift * shift;
      loss.dropped += std::abs(excess);
      continue;
    }
    add_term(pair.ratio(i), excess, shift, 1.0, &loss);
  }
  add_linear(slope_squared, &loss);
  return loss;
}

LossRange range_of(const PrivacyLoss& loss) {
  bool all_positive = true;
  bool all_negative = true;
  double vertex = 0.0;
  for (const auto& term : loss.terms) {
    (term.a > 0.0 ? all_negative : all_positive) = false;
    vertex += term.count * term.vertex;
  }
  const bool bounded = loss.linear == 0.0;
  return {bounded && all_positive ? vertex : -kInf, bounded && all_negative ? vertex : kInf};
}

/// What the exponent log M(s) has linearly in s. For |2 s a| > 1 a term's share is written
///   s constant + s^2 b^2 / (2 (1 - 2 s a))  =  s vertex + s b^2 / (4 a (1 - 2 s a)),
/// whose parts do not cancel.
double slope_of(const PrivacyLoss& loss, double eps, double s) {
  double slope = 0.5 * loss.linear * loss.linear;
  for (const auto& term : loss.terms) {
    slope += term.count * (far_from_pole(term.a, s) ? term.vertex : term.constant);
  }
  return slope - eps;
}

CumulantDerivatives cumulant(const PrivacyLoss& loss, double eps, double s) {
  const double linear = loss.linear * loss.linear;
  const double slope = slope_of(loss, eps, s);
  CumulantDerivatives c{s * slope + 0.5 * s * s * linear, slope + s * linear, linear};
  for (const auto& [a, b, constant, vertex, count] : loss.terms) {
    const double inv = 1.0 / (1.0 - 2.0 * s * a);
    const double b2 = count * b * b;
    c.value -= 0.5 * count * std::log1p(-2.0 * s * a);
    c.first += count * a * inv;
    if (far_from_pole(a, s)) {
      c.value += s * b2 * inv / (4.0 * a);
      c.first += b2 * inv * inv / (4.0 * a);
    } else {
      c.value += 0.5 * s * s * b2 * inv;
      c.first += s * b2 * (1.0 - s * a) * inv * inv;
    }
    c.second += (2.0 * count * a * a + b2 * inv) * inv * inv;
  }
  return c;
}

MomentRatio::MomentRatio(const PrivacyLoss& loss, double eps, double s0)
    : s0_(s0), drift_(slope_of(loss, eps, s0)), curvature_(0.5 * loss.linear * loss.linear) {
  factors_.reserve(loss.terms.size());
  for (const auto& [a, b, constant, vertex, count] : loss.terms) {
    const double inv = 1.0 / (1.0 - 2.0 * s0 * a);
    Factor factor{2.0 * a * inv, a, 0.0, 0.0, count};
    if (far_from_pole(a, s0)) {
      factor.constant = count * b * b * inv * inv / (4.0 * a);
    } else {
      factor.weight = 0.5 * count * b * b * inv * inv;
    }
    factors_.push_back(factor);
  }
}

std::complex<double> MomentRatio::operator()(std::complex<double> s) const {
  using Complex = std::complex<double>;
  using namespace fast_complex;
  const Complex z = s - s0_;
  const Complex sum = s + s0_;
  const Complex product = 2.0 * s0_ * s;
  // Exponent: (drift) z + (lin^2/2)(s^2 - s0^2)
  //           + z sum_i [ weight_i (s + s0 - 2 a_i s s0) + constant_i ]/ratio_i,
  // where ratio_i = (1 - 2 s a_i)/(1 - 2 s0 a_i) = 1 - slope_i z.
  Complex inner = drift_ + curvature_ * sum;
  Complex roots{1.0, 0.0}, log_roots{0.0, 0.0};
  for (const auto& f : factors_) {
    const Complex ratio{1.0 - f.slope * z.real(), -f.slope * z.imag()};
    const Complex numerator{f.weight * (sum.real() - f.a * product.real()) + f.constant,
                            f.weight * (sum.imag() - f.a * product.imag())};
    inner += times(numerator, inverse(ratio));
    if (f.count == 1.0) {
      roots = times(roots, root(ratio));
    } else {
      // log(1 - slope z) of many: its real part without cancellation.
      const double re = f.slope * z.real(), im = f.slope * z.imag();
      log_roots += 0.5 * f.count *
                   Complex{0.5 * std::log1p(re * (re - 2.0) + im * im), std::atan2(-im, 1.0 - re)};
    }
  }
  return times(exponential(times(z, inner) - log_roots), inverse(roots));
}

}  // namespace sfumato
