#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>

#include "sfumato/divergence/kl_bound.hpp"
#include "sfumato/divergence/ou_pair.hpp"
#include "sfumato/divergence/shift_bound.hpp"

namespace sfumato {

/// Two diffusions with different drift and different noise, in any dimension (Spec §27).
///
/// With M = (Sigma' - Sigma)/2 the process  dX~ = (b + M grad log p_s)(X~) ds + Sigma'^{1/2} dW  has q's noise and p's
/// distribution at every time (27.2): unequal noise becomes equal noise with another drift, and what bounds need is
///
///   D_s = E_p | b - b' + M grad log p_s |_N^2         for any N >= Sigma'^{-1}
///
/// A metric is given by S = N^{-1} <= Sigma', as in sde/contraction: |v|_S = |S^{-1/2} v|.

/// The two parts of the rate (27.4 (1)) of linear drifts under p = N(mean, cov).
struct DualRate {
  double drift_part;   ///< E[ |a|_N^2 - 2 tr(M N Da) ]
  double fisher_part;  ///< tr(P V^{-1}), P = M N M
};
[[nodiscard]] DualRate dual_rate(const OuProcess& p, const OuProcess& q,
                                 const GaussianDistribution& distribution,
                                 const Covariance& metric);

/// One removed or added row of logistic regression: e = |a|_N^2 - 2 tr(M N Da) at w and its range over all w (27.4 (2)).
struct RecordRate {
  double drift_norm;  ///< |a|_N^2
  double divergence;  ///< -2 tr(M N Da)
  double upper;       ///< e <= upper for all w
  double lower;
  [[nodiscard]] double value() const { return drift_norm + divergence; }
};
enum class RowIn { first, second };
/// label in {0, 1}; the row's loss is `scale` times the logistic loss.
/// Throws   InvalidArgument for another label.
[[nodiscard]] RecordRate logistic_record_rate(const Eigen::VectorXd& weights,
                                              const Eigen::VectorXd& row, double label,
                                              double scale, const Covariance& noise,
                                              const Covariance& noise_prime, RowIn row_in);

/// D_s of an Ornstein-Uhlenbeck pair in closed form, as a sum of squares.
class OuMatchedRate {
 public:
  /// Throws   as OuDistribution; NumericalFailure if the metric is singular.
  OuMatchedRate(const OuPair& pair, const Covariance& metric);

  /// D_s, rounded up; +inf at a time at which the distribution is singular and the noises differ.
  [[nodiscard]] double at(double time) const;
  /// The limit as time grows, +inf if there is none.
  [[nodiscard]] double limit() const;
  /// The shortest time in which D_s changes.
  [[nodiscard]] double time_scale() const;
  [[nodiscard]] bool vanishes() const;

 private:
  /// In the eigenbasis.
  [[nodiscard]] double in_distribution(const Eigen::VectorXd& moved,
                                       const Eigen::MatrixXd& variance) const;

  [[nodiscard]] Eigen::MatrixXd variance(double time) const;

  OuDistribution distribution_;
  Eigen::VectorXd start_gap_;  ///< R^{-1} ((A - A') m_0 - (pull - pull')), R R^T = S the metric
  Eigen::MatrixXd slope_;      ///< R^{-1} (A - A') Q, in the eigenbasis A = Q diag(l) Q^T
  Eigen::MatrixXd noise_gap_;  ///< R^{-1} M Q
  Eigen::MatrixXd noise_;      ///< Q^T Sigma Q
  Eigen::MatrixXd spread_;     ///< Q^T V_0 Q
  double rounded_up_;
  double scale_;
};

/// Spec §27.3 (2) for an Ornstein-Uhlenbeck pair in one metric, from starts at a distance in W_2 of that metric.
struct OuShiftBound {
  double kappa;
  double bound;
};
/// Time     >= 0 or +inf.
[[nodiscard]] OuShiftBound ou_shift_bound(const OuPair& pair, double time, const Covariance& metric,
                                          double initial_distance = 0.0);

/// The smallest of the bounds in the metrics Sigma' and lam_min(Sigma') I, plus the KL of the starts or the bound with
/// their distance, whichever is smaller.
///
/// Edges    a common point start is allowed, for different noises too; infinite, with the reason, for singular noise,
///          and at time = +inf where the second drift does not contract.
/// Throws   InvalidArgument if time is negative or NaN, otherwise as OuDistribution.
[[nodiscard]] KlBound matched_process_bound(const OuPair& pair, double time);

/// Spec §27.3 (7): each direction at its own rate, with  J C + C J^T >= 2 curvature  for the Jacobian -J of b' and
/// beta = c ((e^{k(t-s)} - 1)/k) (1 - e^{-ks})^gamma.
struct MatrixWeights {
  double c;
  double k;
  double gamma;  ///< 1; 1/2 for a point start with different noise
};
/// Empty where the weights are not proven to be positive on all of (0, t), or the quadrature does not settle.
/// Throws   InvalidArgument for gamma >= 1 where the start has no density and the noises differ: the integral is
///          infinite, and a quadrature would hide it.
[[nodiscard]] std::optional<double> matrix_weight_bound(const OuPair& pair, double time,
                                                        const MatrixWeights& weights,
                                                        const Eigen::MatrixXd& c_matrix,
                                                        const Eigen::MatrixXd& curvature);

}  // namespace sfumato
