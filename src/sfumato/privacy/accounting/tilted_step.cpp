#include "sfumato/privacy/accounting/tilted_step.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "sfumato/privacy/accounting/compensated_sum.hpp"
#include "sfumato/privacy/accounting/nodes.hpp"

namespace sfumato {
namespace {

using namespace nodes;

constexpr double kPi = std::numbers::pi;

}  // namespace

std::complex<double> complex_log1p(std::complex<double> x) {
  const double a = x.real(), b = x.imag();
  const double modulus = std::norm(x) < 0.25 ? 0.5 * std::log1p(a * (2.0 + a) + b * b)
                                             : std::log(std::hypot(1.0 + a, b));
  return {modulus, std::atan2(b, 1.0 + a)};
}

TiltedStep::TiltedStep(const SampledGaussian& step, double s0, double reach)
    : step_(step),
      s0_(s0),
      spacing_(spacing_for(step, s0, reach, std::numeric_limits<double>::infinity())) {
  const Range whole = range_of(step, s0);
  parts_ = located(step, s0, whole);
  std::vector<double> z;
  double covered = 0.0;
  for (Range& part : parts_) {
    part = {std::ceil(part.low / spacing_), std::floor(part.high / spacing_)};
    for (double i = part.low; i <= part.high; ++i) z.push_back(i * spacing_);
    covered += (part.high - part.low + 1.0) * spacing_;
  }
  const std::size_t count = z.size();
  const bool complete = parts_.size() == 1 && covered >= whole.high - whole.low - 2.0 * spacing_;
  std::vector<double> log_weight(count), exponent(count);
  loss_.resize(count);
  weight_.resize(count);
  double largest_exponent = 0.0, largest_term = -std::numeric_limits<double>::infinity();
  for (std::size_t j = 0; j < count; ++j) {
    const LossAt at = loss_at(step, z[j]);
    loss_[j] = at.loss;
    log_weight[j] = std::log(spacing_) - 0.5 * z[j] * z[j] - kLogRootTwoPi;
    exponent[j] = at.log_density + s0 * at.loss;
    largest_exponent = std::max(largest_exponent, exponent[j]);
    largest_term = std::max(largest_term, log_weight[j] + exponent[j]);
  }
  CompensatedSum sum;
  if (largest_exponent <= 600.0 && complete) {
    for (std::size_t j = 0; j < count; ++j) {
      sum.add(std::exp(log_weight[j]) * std::expm1(exponent[j]));
    }
    cumulant_ = std::log1p(sum.value());
  } else {
    for (std::size_t j = 0; j < count; ++j) {
      sum.add(std::exp(log_weight[j] + exponent[j] - largest_term));
    }
    cumulant_ = largest_term + std::log(sum.value());
  }
  CompensatedSum mean, square, slope, floor;
  for (std::size_t j = 0; j < count; ++j) {
    const double a = std::exp(log_weight[j] + exponent[j] - cumulant_);
    const double size = std::fabs(loss_[j]), x = std::fabs(exponent[j]);
    const double half_square = 0.5 * z[j] * z[j];
    weight_[j] = a;
    mean.add(a * loss_[j]);
    slope.add(a *
              ((11.0 + half_square) * size - 2.0 * step.m * std::fabs(z[j]) * std::expm1(-size)));
    floor.add((8.0 + half_square) * std::min(x, 1.0) *
                  std::max(a, std::exp(log_weight[j] - cumulant_)) +
              3.0 * a * x);
  }
  mean_ = mean.value();
  for (std::size_t j = 0; j < count; ++j) {
    const double centred = loss_[j] - mean_;
    square.add(weight_[j] * centred * centred);
  }
  variance_ = square.value();
  // largest_term has log(spacing) - log(root 2 pi) in it, as every term has.
  const double left_out = std::max(0.0, whole.high - whole.low - covered) / spacing_ *
                          std::exp(largest_term - kNeglected - cumulant_);
  error_slope_ = 4.0 * kUnit * slope.value();
  error_floor_ = 4.0 * kUnit * floor.value() + 2.2e-21 + left_out + 2e-17 / step.k;
}

std::complex<double> TiltedStep::change_at(double y) const {
  CompensatedSum re, im;
  for (std::size_t j = 0; j < loss_.size(); ++j) {
    const double half = 0.5 * y * loss_[j];
    const double s = std::sin(half), c = std::cos(half);
    re.add(-2.0 * weight_[j] * s * s);
    im.add(2.0 * weight_[j] * s * c);
  }
  return {re.value(), im.value()};
}

double TiltedStep::error_at(double y) const { return error_slope_ * std::fabs(y) + error_floor_; }

double TiltedStep::log_term_on_line(double x, double eta, double reach) const {
  const RatioOffAxis at = ratio_off_axis(step_, x, eta);
  const double weight = -0.5 * x * x - kLogRootTwoPi;
  switch (step_.direction) {
    case StepDirection::remove: return weight + (1.0 + s0_) * at.log_modulus - reach * at.argument;
    case StepDirection::add: return weight - s0_ * at.log_modulus - reach * at.argument;
    case StepDirection::replace: break;
  }
  const RatioOffAxis mirrored = ratio_off_axis(step_, -x, eta);
  return weight + (1.0 + s0_) * at.log_modulus - s0_ * mirrored.log_modulus -
         reach * (at.argument + mirrored.argument);
}

double TiltedStep::log_bound_on_line(double eta, double reach) const {
  const double m = step_.m, h = 0.5 * spacing_, g = turns_of(step_), p = power_of(step_, s0_);
  double largest = -std::numeric_limits<double>::infinity(), farthest = 0.0;
  std::vector<double> terms;
  terms.reserve(2 * loss_.size());
  for (const Range& part : parts_) {
    for (double i = 2.0 * part.low; i <= 2.0 * part.high; ++i) {
      const double x = i * h;
      farthest = std::max(farthest, std::fabs(x));
      terms.push_back(log_term_on_line(x, eta, reach));
      largest = std::max(largest, terms.back());
    }
  }
  CompensatedSum sum;
  for (const double term : terms) sum.add(std::exp(term - largest));
  const double log_sum = std::log(h * sum.value()) + largest + 0.5 * eta * eta;
  // What the rule may be off by: the best strip.
  double quadrature = std::numeric_limits<double>::infinity();
  for (int i = 1; i <= 9; ++i) {
    const double c = 0.1 * i * (kPi / m - eta);
    const double cosines = std::cos(0.5 * m * (eta + c)) * std::cos(0.5 * m * (eta - c));
    if (!(cosines > 0.0)) continue;
    quadrature = std::min(quadrature, std::log(2.0) + cumulant_ + 0.5 * (c * c + eta * eta) +
                                          0.5 * g * m * reach * std::max(0.0, c - eta) -
                                          0.5 * p * std::log(cosines) - 2.0 * kPi * c / h -
                                          std::log(-std::expm1(-2.0 * kPi * c / h)));
  }
  const double rounding =
      4.0 * kUnit * (10.0 + std::fabs(largest) + (2.0 + std::fabs(s0_)) * m * farthest);
  // The nodes that were left out, and the tails.
  const double tails =
      std::log(1e-20) + cumulant_ + 0.5 * eta * eta - p * std::log(std::cos(0.5 * m * eta));
  const double top = std::max({log_sum, quadrature, tails});
  return top + std::log(std::exp(log_sum - top) * (1.0 + rounding) + std::exp(quadrature - top) +
                        std::exp(tails - top));
}

double TiltedStep::log_bound_beyond(double reach) const {
  const double widest = 0.8 * kPi / step_.m;
  const double natural = reach * std::sqrt(variance_);
  double best = cumulant_;
  for (const double eta : {0.3 * natural, 0.6 * natural, natural, 0.05 * kPi / step_.m,
                           0.1 * kPi / step_.m, 0.2 * kPi / step_.m, 0.35 * kPi / step_.m,
                           0.5 * kPi / step_.m, 0.65 * kPi / step_.m, widest}) {
    if (eta > widest || !(eta > 0.0)) continue;
    best = std::min(best, log_bound_on_line(eta, reach));
  }
  return best;
}

}  // namespace sfumato
