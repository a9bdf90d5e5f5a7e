#pragma once

#include <Eigen/Core>
#include <vector>

#include "sfumato/sde/diffusion.hpp"

namespace sfumato {

/// Gradients of a density are not learnt from particles above this dimension (ParticleScore).
inline constexpr Eigen::Index kParticleScoreDimension = 3;

/// The distribution of particles after one more Euler step, as a density (Spec §12.2).
///
///   p(y) = (1/N) sum_j N(y; x_j + h b(x_j), h Sigma(x_j)),   score(y) = grad log p(y)
///
/// It is the distribution of the chain only as N grows: an estimate. The mean square error of the score grows
/// like h^{-(d+2)/2} / N, so make this last step longer than the others; in more than three
/// dimensions no number of particles that fits a machine is enough. Evaluate at points that do not
/// depend on the particles.
class ParticleScore {
 public:
  /// Throws   InvalidArgument if the dimension exceeds kParticleScoreDimension or differs from the
  ///          particles', there is no particle, step is not positive, or Sigma is singular at one.
  ParticleScore(const Diffusion& diffusion, double time, const ConstPoints& particles, double step);

  struct Value {
    double log_density;
    Eigen::VectorXd score;
  };
  [[nodiscard]] Value at(const Eigen::VectorXd& point) const;

  /// Row j of `out` = score at row j of `points`.
  void scores(const ConstPoints& points, MutablePoints out) const;

 private:
  [[nodiscard]] Value at_equal_noise(const Eigen::VectorXd& point) const;

  /// W_j with W_j^T W_j = (h Sigma_j)^{-1}; one if all are equal.
  std::vector<Eigen::MatrixXd> whitening_;
  std::vector<double> log_scale_;  ///< log of the j-th density at its centre
  Points centres_;                 ///< row j: x_j + h b(x_j); W times that if all W are equal
};

}  // namespace sfumato
