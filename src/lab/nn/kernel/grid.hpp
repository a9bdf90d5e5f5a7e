#pragma once

#include <cstddef>

namespace sfumato::kernel {

/// integers[i] = values[i] scales[i], rounded to the nearest integer (ties to even) or towards zero. Returns the sum of their squares, which is exact
/// below 2^53, and larger than that, or not a number, where it cannot be: what is below depends on the values alone.
[[nodiscard]] double nearest_integers(const float* values, const double* scales, std::size_t count,
                                      double* integers);
[[nodiscard]] double truncated_integers(const float* values, const double* scales,
                                        std::size_t count, double* integers);

/// sum[i] += terms[i].
void add_terms(const double* terms, std::size_t count, double* sum);

}  // namespace sfumato::kernel
