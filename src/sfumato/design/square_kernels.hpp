#pragma once

#include <Eigen/Core>

namespace sfumato {

/// sums_i += weight row_i^2.
void add_weighted_squares(const double* row, double weight, double* sums, Eigen::Index count);

/// sum_i weights_i row_i^2, added in an order that depends on `count` alone.
[[nodiscard]] double sum_of_weighted_squares(const double* row, const double* weights,
                                             Eigen::Index count);

}  // namespace sfumato
