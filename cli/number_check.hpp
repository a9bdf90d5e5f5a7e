#pragma once

#include <span>
#include <vector>

namespace sfumato::cli {

/// What is wrong with a number, as the end of a sentence; nullptr if nothing is.
using NumberCheck = const char* (*)(double value);
[[nodiscard]] const char* not_a_time(double value);           // [0, inf]
[[nodiscard]] const char* not_an_epsilon(double value);       // [0, inf)
[[nodiscard]] const char* not_a_delta(double value);          // [0, 1)
[[nodiscard]] const char* not_a_strength(double value);       // [0, inf)
[[nodiscard]] const char* not_a_variance(double value);       // (0, inf)
[[nodiscard]] const char* not_a_learning_rate(double value);  // (0, inf)

/// The values in their order, each once; -0 counts as 0.
[[nodiscard]] std::vector<double> without_repeats(std::span<const double> values);

/// Refuses a number of the command line as wrong usage.
/// Throws CLI::ValidationError that names the option and the value.
void require_option(const char* option, std::span<const double> values, NumberCheck check);
void require_option(const char* option, double value, NumberCheck check);

}  // namespace sfumato::cli
