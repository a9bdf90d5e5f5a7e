#pragma once

#include <Eigen/Core>

#include "sfumato/sde/diffusion.hpp"

namespace sfumato {

/// Lengths in the metric of the noise,  |Sigma(t, x)^{-1/2} v|, at many points.
class NoiseMetric {
 public:
  /// Throws   InvalidArgument if a constant Sigma is singular: in the directions without noise the
  ///          length is infinite.
  NoiseMetric(const Noise& noise, Eigen::Index dimension);

  /// sum_j += weight |Sigma(time, at_j)^{-1/2} (a_j - b_j)|^2.
  ///
  /// Where a state-dependent Sigma has no noise in the direction of a_j - b_j the sum becomes +inf;
  /// what is not finite stays so. `scratch` is memory to reuse.
  void add_squared_distances(double time, const ConstPoints& at, const ConstPoints& a,
                             const ConstPoints& b, double weight, double* sum,
                             Points& scratch) const;

 private:
  Noise noise_;
  Eigen::VectorXd precisions_;  ///< 1 / variances of constant isotropic or diagonal noise
  Eigen::MatrixXd whitening_;   ///< R^{-1} of other constant noise Sigma = R R^T
};

}  // namespace sfumato
