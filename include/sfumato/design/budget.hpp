#pragma once

#include <Eigen/Core>

#include "sfumato/math/covariance.hpp"

namespace sfumato {

/// How much noise a user accepts:  tr(W Sigma) = total  (Spec §9).
struct Budget {
  Covariance weights;  ///< W, positive definite
  double total;        ///< zeta > 0
};

/// tr Sigma = trace.
[[nodiscard]] Budget trace_budget(Eigen::Index dimension, double trace);

/// Stationary squared distance to the minimiser, tr(A^{-1} Sigma)/2 for the Hessian A.
/// Throws   InvalidArgument if A is not positive definite.
[[nodiscard]] Budget distance_budget(const Covariance& hessian, double squared_distance);

/// Checks that the weights are finite, symmetric and positive definite and the total is positive, and
/// not so small (1e-300) that shares of it lose their digits.
/// Throws   InvalidArgument that names what is wrong.
void require_budget(const Budget& budget);

/// The diagonal of W^{-1}.
[[nodiscard]] Eigen::VectorXd inverse_diagonal(const Covariance& weights);

/// tr(W Sigma).
[[nodiscard]] double weighted_trace(const Covariance& weights, const Covariance& covariance);

}  // namespace sfumato
