#pragma once

#include <Eigen/Core>

namespace sfumato {

/// The cost of noise in a least-squares fit, from the spectrum of H = sum x x^T / N: estimates for choosing, never bounds (Spec §22.3, §22.4).

enum class DescentMetric { isotropic, whitened };

struct DescentShape {
  DescentMetric metric;
  double metric_ridge;  ///< lambda of P^{-1} = H + lambda, of `whitened`
  double learning_rate;
  double steps;
  double average_last;  ///< of the iterates, 1 to steps
  double noise_multiplier;
  double clip;
  double rows;
};

struct ExcessLoss {
  double bias, variance;
  [[nodiscard]] double total() const { return bias + variance; }
};

/// The loss of clipped, noised descent from 0 towards `optimum`, whose coordinates belong to the eigenvalues: no clipping active, metric known (Spec §22.4).
[[nodiscard]] ExcessLoss predicted_excess_loss(const Eigen::VectorXd& eigenvalues,
                                               const Eigen::VectorXd& optimum,
                                               const DescentShape& shape);

/// sum_i ( (1/m) sum_{t = max(i, T-m+1)}^{T} a^{t-i} )^2: how much of the steps' noise is left in the average of the last m iterates, where
/// each step shrinks what was there by a.
[[nodiscard]] double averaged_noise(double shrink, double steps, double average_last);

struct WhiteningGain {
  double resolved;  ///< isotropic over whitened error where every direction is resolved
  double shape;     ///< of the noise alone, with the same preconditioner; >= 1
  double effective_dim;
};
[[nodiscard]] WhiteningGain whitening_gain(const Eigen::VectorXd& eigenvalues, double metric_ridge,
                                           double rho);

/// The noise of whitened descent in the original coordinates: anisotropic (Spec §22.4).
struct WhitenedNoise {
  Eigen::MatrixXd on_gradient_sum, on_parameters;
};
[[nodiscard]] WhitenedNoise whitened_noise(const Eigen::MatrixXd& hessian, double metric_ridge,
                                           double noise_multiplier, double clip, double rows,
                                           double learning_rate);

/// Ridge regression from noisy sums x x^T and x y (Spec §22.3).
struct StatisticsNoise {
  double moment, cross;  ///< deviations on the diagonal of sum x x^T, and of sum x y
  double ridge;          ///< added to sum x x^T
  double rows;
};
[[nodiscard]] ExcessLoss predicted_statistics_loss(const Eigen::VectorXd& eigenvalues,
                                                   const Eigen::VectorXd& optimum,
                                                   const StatisticsNoise& noise);

/// c of rows (x, c y) that wastes least, for a public guess of |theta|; and the square of the bound of such rows (Spec §22.3).
struct StatisticsScale {
  double scale, bound_square;
};
[[nodiscard]] StatisticsScale statistics_scale(double row_norm, double target_bound,
                                               double parameter_norm);

/// The ridge of AdaSSP from a released least eigenvalue (Spec §22.3).
struct AdaptiveRidge {
  double released_eigenvalue, edge, ridge;
};
[[nodiscard]] AdaptiveRidge adaptive_ridge(double least_eigenvalue, double dim, double row_norm,
                                           double mu_eigenvalue, double mu_matrix, double beta,
                                           double normal);

}  // namespace sfumato
