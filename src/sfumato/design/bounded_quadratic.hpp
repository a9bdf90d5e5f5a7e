#pragma once

#include <Eigen/Core>

namespace sfumato {

/// Minimises  x^T Q x / 2 - c^T x  over  x >= lower  for positive definite Q, from a feasible start.
///
/// Sweeps over single variables, which find those that end on their bounds, alternate with Newton
/// steps on the others. The result is feasible and never worse than the start; it is the optimum
/// to rounding unless `steps` run out.
[[nodiscard]] Eigen::VectorXd minimise_bounded_quadratic(const Eigen::MatrixXd& q,
                                                         const Eigen::VectorXd& c,
                                                         const Eigen::VectorXd& lower,
                                                         const Eigen::VectorXd& start,
                                                         int steps = 8);

}  // namespace sfumato
