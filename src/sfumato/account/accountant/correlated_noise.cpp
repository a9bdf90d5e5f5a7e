#include "sfumato/account/accountant/correlated_noise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

/// Rounded up: a sum of squares of sums of as many terms.
double norm_above(const std::vector<double>& values, double terms) {
  double squares = 0.0;
  for (const double value : values) squares += value * value;
  const double roundings = static_cast<double>(values.size()) + 2.0 * terms + 8.0;
  return std::sqrt(squares) * (1.0 + 1.2e-16 * roundings);
}

void require_falling(const std::vector<double>& coefficients) {
  for (std::size_t k = 0; k < coefficients.size(); ++k) {
    const double c = coefficients[k];
    if (std::isfinite(c) && c >= 0.0 && (k == 0 || c <= coefficients[k - 1])) continue;
    throw InvalidArgument(
        fmt::format("coefficient {} = {} is negative or larger than the one before it", k, c),
        "The sensitivity is known for coefficients that fall and are not negative");
  }
}

}  // namespace

std::vector<double> square_root_coefficients(std::size_t bands) {
  if (bands == 0) throw InvalidArgument("0 bands are no matrix", "Pass 1 for independent noise");
  std::vector<double> c = {1.0};
  for (std::size_t k = 1; k < bands; ++k) {
    const auto twice = 2.0 * static_cast<double>(k);
    c.push_back(c.back() * ((twice - 1.0) / twice));
  }
  return c;
}

std::vector<double> lambda_coefficients(double lambda, std::size_t steps) {
  if (!(lambda >= 0.0 && lambda < 1.0)) {
    throw InvalidArgument(fmt::format("lambda = {} is not in [0, 1)", lambda),
                          "Pass 0 for independent noise");
  }
  std::vector<double> c;
  for (std::size_t k = 0; k < steps; ++k) c.push_back(k == 0 ? 1.0 : c.back() * lambda);
  return c;
}

std::vector<double> buffered_coefficients(const std::vector<double>& weights,
                                          const std::vector<double>& decays, std::size_t steps) {
  if (weights.size() != decays.size()) {
    throw InvalidArgument(
        fmt::format("{} weights and {} decays differ in number", weights.size(), decays.size()),
        "Pass one of each for every buffer");
  }
  double sum = 0.0;
  for (std::size_t j = 0; j < weights.size(); ++j) {
    sum += weights[j];
    if (!(weights[j] >= 0.0) || !(decays[j] >= 0.0 && decays[j] < 1.0)) {
      throw InvalidArgument(
          fmt::format("weight {} with decay {} is out of range", weights[j], decays[j]),
          "Pass weights >= 0 and decays in [0, 1)");
    }
  }
  if (sum > 1.0) {
    throw InvalidArgument(fmt::format("weights add up to {}, above 1", sum),
                          "Only coefficients that fall have a known sensitivity");
  }
  std::vector<double> c, powers(weights.size(), 1.0);
  for (std::size_t k = 0; k < steps; ++k) {
    double value = k == 0 ? 1.0 : 0.0;
    for (std::size_t j = 0; k > 0 && j < weights.size(); ++j) {
      value += weights[j] * powers[j];
      powers[j] *= decays[j];
    }
    // What rounding adds is taken away: they fall.
    c.push_back(k == 0 ? value : std::min(value, c.back()));
  }
  return c;
}

double column_norm(const std::vector<double>& coefficients, std::size_t steps) {
  std::vector<double> column = coefficients;
  column.resize(std::min(steps, coefficients.size()));
  return norm_above(column, 0.0);
}

double toeplitz_sensitivity(const std::vector<double>& coefficients, std::size_t steps,
                            std::size_t separation, std::size_t participations) {
  if (steps == 0 || separation == 0 || participations == 0) {
    throw InvalidArgument("steps, separation and participations are 1 or more",
                          "Pass 1 for a record that takes part once");
  }
  require_falling(coefficients);
  std::vector<double> sum(steps, 0.0);
  double columns = 0.0;
  // As early as possible (Kalinin and Lampert 2024).
  for (std::size_t j = 0, from = 0; j < participations && from < steps; ++j, from += separation) {
    columns += 1.0;
    for (std::size_t i = from; i < steps && i - from < coefficients.size(); ++i) {
      sum[i] += coefficients[i - from];
    }
  }
  return norm_above(sum, columns);
}

}  // namespace sfumato
