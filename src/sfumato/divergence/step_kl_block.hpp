#pragma once

#include <cstddef>

namespace sfumato {

/// Many coordinates of Spec §8.1 (1) at a time, so that the KL of a training step costs little.
/// Internal to step_kl.cpp.
///
///   kl_i = 1/2 [ psi(s_i/s'_i) + shift_i^2 / s'_i ],   shift = eta (g - g'), s the variances
///
/// NaN or infinite where a number is not finite or negative, where a variance is zero or the two are more
/// than 2^1000 apart, and where the result overflows: the caller looks at those again.
void regular_step_kl(const double* shift, const double* s, const double* s_prime, std::size_t count,
                     double* kl);

/// The sum, in an order that depends on nothing but the count.
[[nodiscard]] double sum_of(const double* values, std::size_t count);

}  // namespace sfumato
