#include "sfumato/account/contour/density_ratio.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "sfumato/core/error.hpp"

namespace sfumato {

MixtureRatio::MixtureRatio(double q, double m, int g) : q_(q), m_(m), g_(g) {
  if (g == 1) return;
  const double log_hit = std::log(q), log_miss = std::log1p(-q);
  for (int j = 0; j <= g; ++j) {
    log_b_.push_back(std::lgamma(g + 1.0) - std::lgamma(j + 1.0) - std::lgamma(g - j + 1.0) +
                     j * log_hit + (g - j) * log_miss);
  }
}

MixtureRatio::Log MixtureRatio::log_at(double z) const {
  if (g_ > 1) return log_of_group(z);
  const double a = m_ * z - 0.5 * m_ * m_;
  double value = 0.0;
  if (a > 30.0) {
    value = std::log(q_) + a + std::log1p((1.0 - q_) / q_ * std::exp(-a));
  } else {
    const double t = q_ * std::expm1(a);
    // log1p(t) alone is off by a rounding over 1 - q where t is near -1.
    value = t < -0.5 ? std::log((1.0 - q_) + q_ * std::exp(a)) : std::log1p(t);
  }
  return {value, std::fabs(value)};
}

MixtureRatio::Log MixtureRatio::log_of_group(double z) const {
  // 1 + sum b_j (e^{a_j} - 1), whose terms may cancel: their sizes are added too.
  const auto exponent = [&](int j) { return j * (m_ * z - 0.5 * j * m_ * m_); };
  double sum = 0.0, size = 0.0, top = -std::numeric_limits<double>::infinity();
  for (int j = 0; j <= g_; ++j) {
    const double a = exponent(j), log_b = log_b_[static_cast<std::size_t>(j)];
    top = std::max(top, log_b + a);
    const double term = j == 0 ? 0.0 : std::exp(log_b) * std::expm1(std::min(a, 700.0));
    sum += term;
    size += std::fabs(term) * (1.0 + std::fabs(log_b) + 0.1 * g_);
  }
  if (top < 30.0 && std::fabs(sum) < 0.5) return {std::log1p(sum), 2.0 * size};
  double scaled = 0.0;
  for (int j = 0; j <= g_; ++j) {
    scaled += std::exp(log_b_[static_cast<std::size_t>(j)] + exponent(j) - top);
  }
  const double value = top + std::log(scaled);
  const double largest_b = std::max(std::fabs(log_b_.front()), std::fabs(log_b_.back()));
  return {value, std::fabs(value) + std::fabs(top) + 0.2 * g_ + largest_b};
}

double MixtureRatio::sampled_share(double z) const {
  return 1.0 / (1.0 + (1.0 - q_) / q_ * std::exp(0.5 * m_ * m_ - m_ * z));
}

MixtureRatio::Shift MixtureRatio::shift(double eta) const {
  return {eta, std::cos(m_ * eta), std::sin(m_ * eta)};
}

MixtureRatio::OffAxis MixtureRatio::off_axis(double x, const Shift& shift) const {
  if (g_ > 1) return off_axis_of_group(x, shift.eta);
  const double a = m_ * x - 0.5 * m_ * m_;
  if (a > 30.0) {
    // q e^a e^{i turn} (1 + ((1 - q)/q) e^-a e^{-i turn})
    const double small = (1.0 - q_) / q_ * std::exp(-a);
    const double re = 1.0 + small * shift.cosine, im = -small * shift.sine;
    return {std::log(q_) + a + 0.5 * std::log(re * re + im * im),
            m_ * shift.eta + std::atan2(im, re)};
  }
  const double b = q_ * std::exp(a);
  const double re = (1.0 - q_) + b * shift.cosine, im = b * shift.sine;
  return {0.5 * std::log(re * re + im * im), std::atan2(im, re)};
}

MixtureRatio::OffAxis MixtureRatio::off_axis_of_group(double x, double eta) const {
  double top = -std::numeric_limits<double>::infinity();
  const auto exponent = [&](int j) {
    return log_b_[static_cast<std::size_t>(j)] + j * (m_ * x - 0.5 * j * m_ * m_);
  };
  for (int j = 0; j <= g_; ++j) top = std::max(top, exponent(j));
  std::complex<double> sum;
  for (int j = 0; j <= g_; ++j) sum += std::polar(std::exp(exponent(j) - top), j * m_ * eta);
  return {top + std::log(std::abs(sum)), std::max(0.0, std::arg(sum))};
}

RatioStep::Loss RatioStep::loss_at(double z) const {
  const MixtureRatio::Log l = ratio.log_at(z);
  switch (direction) {
    case StepDirection::remove: return {l.value, l.value, l.size};
    case StepDirection::add: return {-l.value, 0.0, l.size};
    case StepDirection::replace: {
      const MixtureRatio::Log mirrored = ratio.log_at(-z);
      return {l.value - mirrored.value, l.value, l.size + mirrored.size};
    }
  }
  throw InternalError("a direction without a loss");
}

RatioStep::OffAxis RatioStep::off_axis(double x, const MixtureRatio::Shift& shift,
                                       double s0) const {
  const MixtureRatio::OffAxis at = ratio.off_axis(x, shift);
  switch (direction) {
    case StepDirection::remove: return {(1.0 + s0) * at.log_modulus, at.argument};
    case StepDirection::add: return {-s0 * at.log_modulus, at.argument};
    case StepDirection::replace: {
      const MixtureRatio::OffAxis mirrored = ratio.off_axis(-x, shift);
      return {(1.0 + s0) * at.log_modulus - s0 * mirrored.log_modulus,
              at.argument + mirrored.argument};
    }
  }
  throw InternalError("a direction without a loss");
}

}  // namespace sfumato
