#pragma once

#include <Eigen/Core>

#include "sfumato/math/covariance.hpp"

namespace sfumato {

/// kappa of the drift -A (x - x*) in the metric S: the smallest eigenvalue of the symmetric part of
/// S^{-1/2} A S^{1/2} (Spec §6.3). It may be negative although A is positive definite.
[[nodiscard]] double linear_contraction(const Eigen::MatrixXd& curvature, const Covariance& metric);

/// kappa of the drift -grad f in the metric S, for any f with kappa I <= Hess f <= lipschitz I:
///
///   (kappa + L)/2 - (L - kappa)/2 * (s + 1/s)/2,   s^2 = the condition number of S
///
/// The Hessian is its centre (kappa + L)/2 I plus E with |E| <= (L - kappa)/2, and
/// u^T S^{-1/2} E S^{1/2} u <= |E| |S^{-1/2} u| |S^{1/2} u| <= |E| (s + 1/s)/2  (Kantorovich).
[[nodiscard]] double convex_contraction(double kappa, double lipschitz, const Covariance& metric);

}  // namespace sfumato
