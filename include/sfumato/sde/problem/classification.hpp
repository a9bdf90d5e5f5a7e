#pragma once

#include <Eigen/Core>
#include <memory>
#include <optional>

#include "sfumato/sde/diffusion.hpp"
#include "sfumato/sde/problem/ridge.hpp"

namespace sfumato {

struct RowLosses;

/// Constants of a row's loss f_l that depend on its features x alone.
struct LinkConstants {
  double gradient;   ///< |grad f_l| <= gradient |x|
  double curvature;  ///< 0 <= Hess f_l <= curvature |x|^2
  double bending;    ///< Hess f_l(w + v) >= e^{-bending |x| |v|} Hess f_l(w)
};

/// Ridge-regularised logistic or softmax regression on a table of N rows (x_l, y_l).
///
///   sum    f(w) = sum_l f_l(w) + rho/2 |w|^2,           rho = ridge, or ridge N
///   mean   f(w) = 1/N sum_l f_l(w) + ridge/2 |w|^2
///
///   logistic   f_l = log(1 + e^{z}) - y z,  z = x_l^T w,  y in {0, 1}:  p parameters
///   softmax    f_l = log(sum_k e^{z_k}) - z_y,  z_k = x_l^T w_k,  y in {0, ..., K-1}: K p
///              parameters, those of class k at k p, ..., k p + p - 1
///
/// Constants (LinkConstants): logistic 1, 1/4, 1, from p - y in [-1, 1], p (1 - p) <= 1/4 and
/// |p (1-p) (1-2p)| <= p (1-p). Softmax sqrt(2), 1/2, sqrt(2): the gradient is (p - e_y) x^T, the
/// eigenvalues of diag(p) - p p^T are at most 1/2, and no score is farther than sqrt(2) |z| from the
/// mean score. All columns are penalised alike; an intercept is a column of ones.
class ClassificationProblem {
 public:
  /// c and rho of a table:  f = c sum_l f_l + rho/2 |w|^2.
  struct Weights {
    double row;
    double ridge;
  };

  /// Throws InvalidArgument for sizes that differ, an empty table, entries that are not finite, labels
  /// that are not classes (with the row), fewer than two classes, a negative ridge, or times_rows with
  /// the mean.
  static ClassificationProblem logistic(Eigen::MatrixXd features, Eigen::VectorXd labels,
                                        const RidgeOptions& options);
  static ClassificationProblem softmax(Eigen::MatrixXd features, Eigen::VectorXd labels,
                                       Eigen::Index classes, const RidgeOptions& options);

  [[nodiscard]] Eigen::Index rows() const { return features_.rows(); }
  [[nodiscard]] Eigen::Index parameters() const { return features_.cols() * outputs_; }
  /// Scores per row: 1 for logistic, K for softmax.
  [[nodiscard]] Eigen::Index outputs() const { return outputs_; }
  [[nodiscard]] bool is_softmax() const { return outputs_ > 1; }
  [[nodiscard]] const RidgeOptions& options() const { return options_; }
  [[nodiscard]] const Eigen::MatrixXd& features() const { return features_; }
  [[nodiscard]] Record record(Eigen::Index row) const;
  [[nodiscard]] LinkConstants constants() const;
  [[nodiscard]] Weights weights() const;

  /// The same on the table without `row`, or with `replacement` in its place. N stays what it is, as in
  /// RidgeProblem: the place of a removed row is empty.
  /// Throws   InvalidArgument if no row is left, or the replacement does not fit the table.
  [[nodiscard]] ClassificationProblem neighbour(Eigen::Index row,
                                                const std::optional<Record>& replacement) const;

  [[nodiscard]] double loss(const Eigen::VectorXd& at) const;
  [[nodiscard]] Eigen::VectorXd gradient(const Eigen::VectorXd& at) const;
  [[nodiscard]] Eigen::MatrixXd hessian(const Eigen::VectorXd& at) const;

  /// sum_l grad f_l (without c and the ridge term) at many points at once: rows are points.
  void sum_gradients(const ConstPoints& at, MutablePoints out) const;
  /// sum_l Hess f_l.
  [[nodiscard]] Eigen::MatrixXd sum_hessian(const Eigen::VectorXd& at) const;

  /// Probabilities of the rows at one point, one column per output.
  [[nodiscard]] Eigen::MatrixXd probabilities(const Eigen::VectorXd& at) const;
  /// grad f_l at one point: row l.
  [[nodiscard]] Eigen::MatrixXd row_gradients(const Eigen::VectorXd& at) const;
  /// grad of the loss of any record; its target must be a class.
  [[nodiscard]] Eigen::VectorXd record_gradient(const Record& record,
                                                const Eigen::VectorXd& at) const;
  /// d x m matrix U with Hess of the record's loss = U U^T.
  [[nodiscard]] Eigen::MatrixXd record_hessian_root(const Record& record,
                                                    const Eigen::VectorXd& at) const;

  /// Upper bound on the rounding error of sum_gradients at a point of norm `norm`: of the scores,
  /// (p + 2) u |x| |w|, times the link's slope; of the link, (m + 16) u; of the sums over blocks of
  /// 256 rows, (264 + N/256) u of the sum of norms. With u = 2.2e-16, twice the unit of rounding.
  [[nodiscard]] double rounding(double norm) const;

  /// f_l without ridge and 1/N, for minibatch_noise. Holds a copy of the table.
  [[nodiscard]] RowLosses row_losses() const;

  /// Throws InvalidArgument if the record's features do not fit or its target is no class.
  void require_record(const Record& record, const Where& where = Where::here()) const;

 private:
  ClassificationProblem(Eigen::MatrixXd features, Eigen::VectorXd labels, Eigen::Index outputs,
                        Eigen::Index classes, const RidgeOptions& options, const Where& where);

  Eigen::MatrixXd features_;
  Eigen::VectorXd labels_;
  Eigen::Index outputs_;
  double count_;  ///< N; rows() of a neighbour without a row is one less
  RidgeOptions options_;
  double sum_of_norms_ = 0.0;    ///< sum |x_l|
  double sum_of_squares_ = 0.0;  ///< sum |x_l|^2
};

/// Noisy gradient flow  dX = -grad f(X) dt + Sigma^{1/2} dW  of a problem; the contraction constant
/// follows from rho I <= Hess f <= lipschitz I.
/// Throws   InvalidArgument if a constant noise has another dimension or is not a covariance matrix.
[[nodiscard]] Diffusion classification_diffusion(
    const std::shared_ptr<const ClassificationProblem>& problem, Noise noise);

/// Upper bound on the Hessian of f: rho + c * curvature * lam_max(X^T X), rounded up.
[[nodiscard]] double hessian_bound(const ClassificationProblem& problem);

}  // namespace sfumato
