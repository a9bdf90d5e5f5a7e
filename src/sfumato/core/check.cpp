#include "sfumato/core/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sfumato/core/error.hpp"

namespace sfumato {

double require_finite(std::string_view name, double value, const Where& where) {
  if (std::isfinite(value)) return value;
  throw InvalidArgument(fmt::format("{} = {} is not a finite number", name, value),
                        "Check how it was computed", where);
}

double require_positive(std::string_view name, double value, const Where& where) {
  if (std::isfinite(value) && value > 0.0) return value;
  throw InvalidArgument(fmt::format("{} = {} is not a finite positive number", name, value),
                        "Check the sign and the unit", where);
}

double require_non_negative(std::string_view name, double value, const Where& where) {
  if (value >= 0.0) return value;
  throw InvalidArgument(fmt::format("{} = {} is negative or not a number", name, value),
                        "Pass zero or more", where);
}

double require_probability(std::string_view name, double value, const Where& where) {
  if (value >= 0.0 && value <= 1.0) return value;
  throw InvalidArgument(fmt::format("{} = {} is not in [0, 1]", name, value), "Pass a probability",
                        where);
}

void require_size(std::string_view name, std::ptrdiff_t got, std::ptrdiff_t expected,
                  const Where& where) {
  if (got == expected) return;
  throw InvalidArgument(fmt::format("{} has size {}, expected {}", name, got, expected),
                        "Check the dimensions of the problem", where);
}

const char* not_a_time(double value) {
  return value >= 0.0 ? nullptr : "is not a time: it must be 0 or more, or inf";
}

const char* not_an_epsilon(double value) {
  return std::isfinite(value) && value >= 0.0 ? nullptr : "is not a finite epsilon >= 0";
}

const char* not_a_delta(double value) {
  return value >= 0.0 && value < 1.0 ? nullptr : "is not a delta in [0, 1)";
}

const char* not_a_strength(double value) {
  return std::isfinite(value) && value >= 0.0 ? nullptr : "is not a finite number >= 0";
}

const char* not_a_variance(double value) {
  return std::isfinite(value) && value > 0.0 ? nullptr : "is not a finite variance > 0";
}

const char* not_a_learning_rate(double value) {
  return std::isfinite(value) && value > 0.0 ? nullptr : "is not a finite learning rate > 0";
}

const char* not_a_confidence(double value) {
  return value > 0.0 && value < 1.0 ? nullptr : "is not a probability between 0 and 1";
}

const char* not_a_step_count(double value) {
  return value >= 0.0 && (std::isinf(value) || value == std::floor(value))
             ? nullptr
             : "is not a number of steps: it must be a whole number, 0 or more, or inf";
}

const char* not_positive(double value) {
  return std::isfinite(value) && value > 0.0 ? nullptr : "is not a finite positive number";
}

const char* not_a_share(double value) {
  return value > 0.0 && value < 1.0 ? nullptr : "is not a share in (0, 1)";
}

const char* not_a_small_probability(double value) {
  return value > 0.0 && value < 1.0 ? nullptr : "is not a probability in (0, 1)";
}

std::vector<double> without_repeats(std::span<const double> values) {
  std::vector<double> result;
  for (const double value : values) {
    if (std::find(result.begin(), result.end(), value) == result.end())
      result.push_back(value + 0.0);
  }
  return result;
}

void require_key(const char* key, std::span<const double> values, NumberCheck check) {
  for (const double value : values) {
    if (const char* problem = check(value)) {
      throw InvalidArgument(fmt::format("{} {}", value, problem), "", Where::key(key));
    }
  }
}

void require_key(const char* key, double value, NumberCheck check) {
  require_key(key, std::span<const double>(&value, 1), check);
}

}  // namespace sfumato
