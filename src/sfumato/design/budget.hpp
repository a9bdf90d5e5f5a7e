#pragma once

#include <Eigen/Core>
#include <string_view>

#include "sfumato/math/covariance.hpp"

namespace sfumato {

/// How much noise a user accepts:  tr(W Sigma) = total  (Spec §9).
struct Budget {
  Covariance weights;  ///< W, positive definite
  double total;        ///< zeta > 0
};

/// tr Sigma = trace.
[[nodiscard]] Budget trace_budget(Eigen::Index dimension, double trace);

/// Stationary excess loss tr Sigma / 4 of a quadratic loss, whatever its Hessian (Spec §5, §9).
[[nodiscard]] Budget excess_loss_budget(Eigen::Index dimension, double excess_loss);

/// Stationary squared distance to the minimiser, tr(A^{-1} Sigma)/2 for the Hessian A.
/// Throws   InvalidArgument if A is not positive definite.
[[nodiscard]] Budget distance_budget(const Covariance& hessian, double squared_distance);

/// Checks that the weights are finite, symmetric and positive definite and the total is positive.
/// Throws   InvalidArgument that names what is wrong.
void require_budget(const Budget& budget);

/// require_covariance that does not name the entries of a long diagonal one by one.
/// Throws   InvalidArgument as that does.
void require_psd(std::string_view name, const Covariance& matrix, const Where& where);

/// The diagonal of W^{-1}.
[[nodiscard]] Eigen::VectorXd inverse_diagonal(const Covariance& weights);

/// tr(W Sigma).
[[nodiscard]] double weighted_trace(const Covariance& weights, const Covariance& covariance);

}  // namespace sfumato
