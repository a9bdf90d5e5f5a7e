#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "sfumato/core/error.hpp"

namespace sfumato {

/// The fault of a number, as the end of a sentence; nullptr if nothing is.
using NumberCheck = const char* (*)(double value);
[[nodiscard]] const char* not_a_time(double value);               // [0, inf]
[[nodiscard]] const char* not_an_epsilon(double value);           // [0, inf)
[[nodiscard]] const char* not_a_delta(double value);              // [0, 1)
[[nodiscard]] const char* not_a_strength(double value);           // [0, inf)
[[nodiscard]] const char* not_a_variance(double value);           // (0, inf)
[[nodiscard]] const char* not_a_learning_rate(double value);      // (0, inf)
[[nodiscard]] const char* not_a_confidence(double value);         // (0, 1)
[[nodiscard]] const char* not_a_step_count(double value);         // 0, 1, 2, ..., inf
[[nodiscard]] const char* not_positive(double value);             // (0, inf)
[[nodiscard]] const char* not_a_share(double value);              // (0, 1)
[[nodiscard]] const char* not_a_small_probability(double value);  // (0, 1)

/// The values in their order, each once; -0 counts as 0.
[[nodiscard]] std::vector<double> without_repeats(std::span<const double> values);

/// Refuses a value of a question's key. Throws InvalidArgument that names the key and the value.
void require_key(const char* key, std::span<const double> values, NumberCheck check);
void require_key(const char* key, double value, NumberCheck check);

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
