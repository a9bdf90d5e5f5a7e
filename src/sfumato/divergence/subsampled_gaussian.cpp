#include "sfumato/divergence/subsampled_gaussian.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "sfumato/core/check.hpp"
#include "sfumato/math/special.hpp"

namespace sfumato {
namespace {

/// log(e^x - 1) for x > 0.
double log_expm1(double x) {
  return x > 30.0 ? x + std::log1p(-std::exp(-x)) : std::log(std::expm1(x));
}

}  // namespace

double subsampled_gaussian_rdp(double sampling_rate, double noise_multiplier, int order) {
  require_probability("sampling_rate", sampling_rate);
  require_positive("noise_multiplier", noise_multiplier);
  if (order < 2) {
    throw InvalidArgument(fmt::format("order = {} is below 2", order), "Use a whole order >= 2");
  }
  if (sampling_rate == 0.0) return 0.0;
  const double a = order;
  const double inverse_variance = 1.0 / (noise_multiplier * noise_multiplier);
  if (sampling_rate == 1.0) return 0.5 * a * inverse_variance;
  double log_sum = -std::numeric_limits<double>::infinity();
  double log_binomial = 0.0;
  for (int j = 1; j <= order; ++j) {
    log_binomial += std::log((a - j + 1.0) / j);
    if (j < 2) continue;  // expm1(0) = 0
    const double log_weight =
        log_binomial + (a - j) * std::log1p(-sampling_rate) + j * std::log(sampling_rate);
    log_sum = log_add_exp(log_sum, log_weight + log_expm1(0.5 * j * (j - 1.0) * inverse_variance));
  }
  return log_add_exp(0.0, log_sum) / (a - 1.0);
}

}  // namespace sfumato
