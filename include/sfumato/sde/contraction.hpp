#pragma once

#include <Eigen/Core>

#include "sfumato/math/covariance.hpp"
#include "sfumato/sde/diffusion.hpp"

namespace sfumato {

/// Bounds kappa I <= Hess f <= lipschitz I that hold everywhere; kappa may be negative.
struct HessianBounds {
  double kappa;
  double lipschitz;
};

/// How fast drifts and steps pull two points together in the metric of the noise,
/// |v|_S = |S^{-1/2} v|. Rates are exact up to rounding or proven; they may be negative, which
/// means that the drift may push points apart. All throw NumericalFailure if the metric is
/// singular.

/// The largest kappa with <b(x) - b(y), S^{-1} (x - y)> <= -kappa |x - y|_S^2 for b(x) = -A x, A any
/// square matrix:
///
///   Spec §6.3:   kappa = lam_min( sym( S^{-1/2} A S^{1/2} ) )
///
/// It may be negative although all eigenvalues of A are positive. For a symmetric A that commutes
/// with S it is lam_min(A).
///
/// Throws   InvalidArgument if A is not square or S has another size.
[[nodiscard]] double linear_contraction(const Eigen::MatrixXd& curvature, const Covariance& metric);

/// A rate for every drift whose Jacobian is -H(x) with H symmetric and lower I <= H <= upper I:
///
///   kappa = m - r (w + 1/w) / 2
///   m = (upper + lower)/2,  r = (upper - lower)/2,  w = sqrt(cond S)
///
/// Proof. H, averaged between x and y, is m I + E with |E| <= r. In the eigenbasis of S, where up
/// to a factor S^{1/2} = diag(e^{a_i}) with |a_i| <= log(w)/2, sym(S^{-1/2} E S^{1/2}) has the
/// entries E_ij cosh(a_i - a_j): it is C E C - T E T with C = diag(cosh a_i), T = diag(sinh a_i),
/// so its norm is at most r (cosh^2 + sinh^2)(log(w)/2) = r (w + 1/w) / 2.
/// Attained in two dimensions by E = r [[0, 1], [1, 0]]. `lower` for isotropic S.
///
/// Throws   InvalidArgument unless lower <= upper, both finite.
[[nodiscard]] double hessian_contraction(double lower, double upper, const Covariance& metric);

/// A rate for every drift whose Jacobian lies in a box, entry by entry (Spec §27.6 (7)): with the middle B and the
/// radii R of the box,
///
///   kappa = -lam_max( sym( L B L^{-1} ) ) - | sym( |L| R |L^{-1}| ) |,     S^{-1} = L^T L
///
/// which is true of every root L: the best of three, and, where S is diagonal, also with the upper ends alone on the diagonal: a drift that pulls back ever more strongly
/// has a rate although its Jacobian has no lower end. -inf where the box is too large to say anything.
///
/// Throws   InvalidArgument if sizes differ.
[[nodiscard]] double box_contraction(const JacobianBox& box, const Covariance& metric);
/// The same for one root: `inverse_root` is L^{-1}.
[[nodiscard]] double box_contraction(const JacobianBox& box, const Eigen::MatrixXd& inverse_root);

/// A box as a middle and radii that reach both ends from the middle as it was rounded.
struct CentredBox {
  Eigen::MatrixXd middle;
  Eigen::MatrixXd radii;
};
[[nodiscard]] CentredBox centred(const JacobianBox& box);

/// The rate of the gradient flow of  sum_l c f_l(x_l^T w) + ridge/2 |w|^2  with 0 <= f_l'' <= 1/4 (logistic
/// regression) in |.|_S (Spec §27.3 (5)), and a one-sided bound from above: <b(x) - b(y), S^{-1} (x - y)> >= -upper
/// |x - y|_S^2.
struct RowContraction {
  double kappa;
  double upper;
};
[[nodiscard]] RowContraction row_contraction(const Eigen::MatrixXd& rows, double scale,
                                             double ridge, const Covariance& metric);

/// Lipschitz constant in |.|_S of the step x -> x - rate (A x - pull)  (Spec §8.3):
/// the largest singular value of I - rate S^{-1/2} A S^{1/2}. Throws as linear_contraction.
[[nodiscard]] double linear_step_lipschitz(const Eigen::MatrixXd& curvature, double learning_rate,
                                           const Covariance& metric);

/// The same for every step x -> x - rate g(x) whose g has symmetric Jacobian H(x), lower I <= H <=
/// upper I: |1 - rate m| + rate r sqrt(cond S), because |S^{-1/2} E S^{1/2}| <= |E| sqrt(cond S).
/// For isotropic S it is max(|1 - rate lower|, |1 - rate upper|).
///
/// Throws   InvalidArgument unless lower <= upper, both finite, and the learning rate is >= 0.
[[nodiscard]] double hessian_step_lipschitz(double lower, double upper, double learning_rate,
                                            const Covariance& metric);

}  // namespace sfumato
