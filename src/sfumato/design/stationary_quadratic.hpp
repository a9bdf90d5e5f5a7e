#pragma once

#include <Eigen/Core>

namespace sfumato {

/// The best diagonal noise for quadratic losses with equal Hessians diag(l) whose minimisers differ
/// by dm, judged by their stationary distributions (Spec §13.3):
///
///   KL = sum_i l_i dm_i^2 / v_i,   squared error zeta = sum_i v_i / (2 l_i)
///   best  v_i = 2 zeta l_i |dm_i| / sum|dm|,   KL = (sum|dm|)^2 / (2 zeta)
struct StationaryQuadraticDesign {
  Eigen::VectorXd variances;
  double kl;                  ///< exact, nats
  double isotropic_variance;  ///< at the same error
  double isotropic_kl;        ///< (sum l dm^2)(sum 1/l) / (2 zeta)

  [[nodiscard]] double gain() const { return isotropic_kl / kl; }
};

/// Edges    a coordinate that does not shift gets no noise.
/// Throws   InvalidArgument if sizes differ, an eigenvalue or the error is not positive, a shift is
///          not finite or all are zero.
[[nodiscard]] StationaryQuadraticDesign stationary_quadratic_design(
    const Eigen::VectorXd& eigenvalues, const Eigen::VectorXd& minimiser_shift,
    double squared_error);

}  // namespace sfumato
