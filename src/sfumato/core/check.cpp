#include "sfumato/core/check.hpp"

#include <fmt/format.h>

#include <cmath>

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

}  // namespace sfumato
