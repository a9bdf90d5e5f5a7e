#pragma once

#include <Eigen/Core>
#include <vector>

#include "sfumato/core/observer.hpp"
#include "sfumato/sde/problem/classification_fit.hpp"

namespace sfumato {

/// Lower bounds on the Hessian of a classification loss f around its computed minimiser w0 (Spec §7.8):
/// with the metric |v|_G^2 = v^T G v, G the Hessian at w0, and radii rho_0 = 0 < rho_1 < ... < rho_K,
///
///   Hess f(w) >= M_k >= least_k G   wherever |w - w0|_G <= rho_k,
///   logistic   M_k = ridge I + c sum_l min s'(z_l +- rho_k width_l) x_l x_l^T,   s' = s (1 - s)
///   softmax    M_k = ridge I + c sum_l e^{-rho_k width_l} Hess f_l(w0)
///
/// where no difference of two scores of row l (logistic: not the score) changes by more than rho_k width_l.
/// Columns are scaled to the diagonal of G, so their units do not matter. All numbers include their
/// rounding. Radii where rounding would take more than 1 % are left out; if none is left, empty().
class CurvatureShells {
 public:
  /// `unit` is the length of |.|_G that counts: 1/sqrt(beta) for the distribution exp(-beta f).
  ///
  /// Cost     O(K (N p^2 + p^3)), K < 30.
  /// Throws   Stopped if the observer asked to stop.
  CurvatureShells(const ClassificationFit& fit, double unit, const Observer& observer);

  [[nodiscard]] bool empty() const { return shells_.empty(); }
  [[nodiscard]] std::size_t count() const { return shells_.size(); }  ///< K + 1
  [[nodiscard]] double radius(std::size_t k) const { return shells_[k].radius; }
  [[nodiscard]] double least(std::size_t k) const { return shells_[k].least; }

  /// A bound on width_l for any features.
  [[nodiscard]] double width(const Eigen::VectorXd& features) const;
  /// The features as columns of parameters, one for each score.
  [[nodiscard]] Eigen::MatrixXd columns(const Eigen::VectorXd& features) const;

  /// L^{-1} of columns, M_k = L L^T: their products are those in the metric of M_k^{-1}, up to the
  /// factor slack(k) >= 1.
  [[nodiscard]] Eigen::MatrixXd whiten(std::size_t k, const Eigen::MatrixXd& columns) const;
  [[nodiscard]] double slack(std::size_t k) const { return shells_[k].slack; }

 private:
  struct Shell {
    double radius;
    double least;
    double slack;
    Eigen::MatrixXd lower;  ///< Cholesky factor of M_k in scaled columns
  };
  /// The widths of all rows in the metric lower lower^T, as computed.
  [[nodiscard]] Eigen::ArrayXd widths_of(const ClassificationProblem& problem,
                                         const Eigen::MatrixXd& lower,
                                         const Observer& observer) const;

  Eigen::Index outputs_;
  Eigen::VectorXd scale_;
  std::vector<Shell> shells_;
};

/// The largest length of a column (one column), or of a difference of two, from their products.
[[nodiscard]] double largest_spread(const Eigen::MatrixXd& products);

/// The logistic slope s(z) (1 - s(z)) farthest from 1/4 for scores within `width` of z.
[[nodiscard]] double least_slope(double z, double width);

}  // namespace sfumato
