#include "sfumato/account/contour/tilted_distribution.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sfumato/account/contour/compensated_sum.hpp"
#include "sfumato/account/contour/phase_sum.hpp"
#include "sfumato/account/contour/rounding_unit.hpp"

namespace sfumato {
namespace {

constexpr double kMostExponent = 600.0;  // e^x - 1 is summed as it is up to here

}  // namespace

std::complex<double> complex_log1p(std::complex<double> x) {
  const double a = x.real(), b = x.imag();
  const double modulus = std::norm(x) < 0.25 ? 0.5 * std::log1p(a * (2.0 + a) + b * b)
                                             : std::log(std::hypot(1.0 + a, b));
  return {modulus, std::atan2(b, 1.0 + a)};
}

void DistributionTerms::reserve(std::size_t count) {
  for (auto* v : {&half_square, &log_base, &exponent, &loss, &loss_size, &shift}) v->reserve(count);
}

void DistributionTerms::add(double half_square_at, double log_base_at, double exponent_at,
                            double loss_at, double loss_size_at, double shift_at) {
  half_square.push_back(half_square_at);
  log_base.push_back(log_base_at);
  exponent.push_back(exponent_at);
  loss.push_back(loss_at);
  loss_size.push_back(loss_size_at);
  shift.push_back(shift_at);
}

TiltedDistribution distribution_of(const DistributionTerms& terms, bool complete) {
  const std::size_t count = terms.loss.size();
  TiltedDistribution distribution;
  distribution.loss = terms.loss;
  distribution.weight.resize(count);
  double largest_exponent = 0.0, largest = -std::numeric_limits<double>::infinity();
  for (std::size_t j = 0; j < count; ++j) {
    largest_exponent = std::max(largest_exponent, terms.exponent[j]);
    largest = std::max(largest, terms.log_base[j] + terms.exponent[j]);
  }
  CompensatedSum sum;
  const bool from_one = largest_exponent <= kMostExponent && complete;
  if (from_one) {
    for (std::size_t j = 0; j < count; ++j) {
      sum.add(std::exp(terms.log_base[j]) * std::expm1(terms.exponent[j]));
    }
    distribution.cumulant = std::log1p(sum.value());
  } else {
    for (std::size_t j = 0; j < count; ++j) {
      sum.add(std::exp(terms.log_base[j] + terms.exponent[j] - largest));
    }
    distribution.cumulant = largest + std::log(sum.value());
  }
  CompensatedSum mean, square, slope, floor;
  for (std::size_t j = 0; j < count; ++j) {
    const double a = std::exp(terms.log_base[j] + terms.exponent[j] - distribution.cumulant);
    const double x = std::fabs(terms.exponent[j]);
    distribution.weight[j] = a;
    mean.add(a * distribution.loss[j]);
    slope.add(a * ((11.0 + terms.half_square[j]) * terms.loss_size[j] + terms.shift[j]));
    // The sum of changes from 1 is off relative to the changes; the sum of the terms themselves relative to all of it, however near to 1.
    const double part =
        from_one
            ? std::min(x, 1.0) * std::max(a, std::exp(terms.log_base[j] - distribution.cumulant))
            : a * (1.0 + 0.25 * std::fabs(largest));
    floor.add((8.0 + terms.half_square[j]) * part + 3.0 * a * x);
  }
  distribution.mean = mean.value();
  for (std::size_t j = 0; j < count; ++j) {
    const double centred = distribution.loss[j] - distribution.mean;
    square.add(distribution.weight[j] * centred * centred);
  }
  distribution.variance = square.value();
  distribution.error_slope = 4.0 * kUnit * slope.value();
  distribution.error_floor = 4.0 * kUnit * floor.value();
  return distribution;
}

std::complex<double> TiltedDistribution::change_at(double y) const {
  const PhaseSum sum = phase_sum(weight.data(), loss.data(), loss.size(), y);
  return {sum.re, sum.im};
}

double TiltedDistribution::error_at(double y) const {
  return error_slope * std::fabs(y) + error_floor;
}

}  // namespace sfumato
