#pragma once

#include <cstddef>
#include <string_view>

#include "sfumato/core/error.hpp"

namespace sfumato {

/// Checks at the public boundary: each returns the value, or throws InvalidArgument that names it.
/// NaN is refused by all of them.

double require_finite(std::string_view name, double value, const Where& where = Where::here());

/// Finite and > 0.
double require_positive(std::string_view name, double value, const Where& where = Where::here());

/// >= 0; +infinity is allowed (times, divergences and epsilons may be infinite).
double require_non_negative(std::string_view name, double value,
                            const Where& where = Where::here());

/// In [0, 1].
double require_probability(std::string_view name, double value, const Where& where = Where::here());

/// `got` equals `expected`; `name` is what has the size.
void require_size(std::string_view name, std::ptrdiff_t got, std::ptrdiff_t expected,
                  const Where& where = Where::here());

}  // namespace sfumato
