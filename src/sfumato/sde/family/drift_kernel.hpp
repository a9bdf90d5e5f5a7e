#pragma once

#include <cstddef>

namespace sfumato {

/// Drifts at many points as plain loops. Column i of `at` and `out` begins at i * stride.

/// out = pull - A at  (A by rows, d x d).
void linear_drift(std::size_t points, std::size_t dimension, const double* curvature,
                  const double* pull, const double* at, std::size_t at_stride, double* out,
                  std::size_t out_stride);

/// out = c_0 + c_1 x + ... + c_n x^n, by Horner's rule.
void polynomial_values(std::size_t points, std::size_t count, const double* coefficients,
                       const double* at, double* out);

}  // namespace sfumato
