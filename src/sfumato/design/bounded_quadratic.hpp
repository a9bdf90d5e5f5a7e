#pragma once

#include <Eigen/Core>

namespace sfumato {

/// Minimises  x^T Q x / 2 - c^T x  over  x >= lower  for positive definite Q, from a feasible start.
///
/// Newton steps on the variables off their bounds; all that would cross a bound are put on it at
/// once where that lowers the objective, otherwise the step ends at the first bound it meets. The
/// result is feasible and never worse than the start; the optimum unless `steps` run out.
[[nodiscard]] Eigen::VectorXd minimise_bounded_quadratic(const Eigen::MatrixXd& q,
                                                         const Eigen::VectorXd& c,
                                                         const Eigen::VectorXd& lower,
                                                         const Eigen::VectorXd& start,
                                                         int steps = 60);

}  // namespace sfumato
