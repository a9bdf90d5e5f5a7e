#pragma once

#include <Eigen/Core>
#include <functional>
#include <optional>
#include <vector>

#include "sfumato/math/riccati.hpp"

namespace sfumato {

/// Upper bounds on the Fisher information matrix J_t = E[ grad log p_t grad log p_t^T ] of a diffusion or a chain, in
/// the order of symmetric matrices, by shifts of paths: no score and no second derivative enters (Spec §27.5).
/// An empty J stands for a point start, where J is infinite.
using FisherInformation = std::optional<Eigen::MatrixXd>;

/// One step  X -> T(X) + N(0, S)  of a chain (Spec §27.5 (4), (5)).
struct FisherStep {
  Eigen::MatrixXd
      next;  ///< of the information after the step, in the form (6), which is valid for any gain
  Eigen::MatrixXd gain;  ///< zero at a point start
};
/// `slope` = E DT, `spread` = E (DT - slope)^T S^{-1} (DT - slope).
/// Throws   NumericalFailure if S is singular.
[[nodiscard]] FisherStep fisher_step(const FisherInformation& fisher, const Eigen::MatrixXd& slope,
                                     const Eigen::MatrixXd& spread, const Eigen::MatrixXd& noise);

/// The solution of  Y' = Q - Y B - B^T Y - Y R Y  with constant coefficients, R > 0 and Q >= 0: an upper bound on J_s
/// of the diffusion with drift Jacobians Db and noise Sigma where  (Db - B)^T Sigma^{-1} (Db - B)  has at most the
/// expectation, or the supremum, that Q and R stand for (27.5 (3), 27.6 (5)).
class FisherFlow {
 public:
  /// Throws   NumericalFailure if the equation has no stabilising solution (an eigenvalue of its Hamiltonian on the
  ///          imaginary axis), or none whose residual proves it to be above every J.
  FisherFlow(const Eigen::MatrixXd& drift, const Eigen::MatrixXd& spread,
             const Eigen::MatrixXd& noise);

  /// X, the largest stationary solution: the limit from every start, and above J_s for all s if above J_0. Its residual
  /// is negative, so that it is a supersolution in spite of rounding.
  [[nodiscard]] const Eigen::MatrixXd& limit() const { return limit_; }
  [[nodiscard]] const Eigen::MatrixXd& closed_loop() const { return closed_; }  ///< -(B + R X)

  /// Y_time from J_0 = start, or from a point.
  [[nodiscard]] Eigen::MatrixXd at(double time, const FisherInformation& start) const;

  /// The largest s for which the solution from a point is still above J_0 at time s: the start is at least that old.
  /// 0 for a point, +inf if J_0 <= X. The lower end of a bisection.
  [[nodiscard]] double age_of(const FisherInformation& start) const;

 private:
  Eigen::MatrixXd noise_;
  Eigen::MatrixXd limit_;
  Eigen::MatrixXd closed_;
};

/// Spec §27.10 (1): B^T G^{-1} B <= J for features f of a sample, B = -E grad f (m x d) and G = E f f^T: how much of a
/// bound is loss. An estimate where the expectations are means of a sample.
[[nodiscard]] Eigen::MatrixXd fisher_lower(const Eigen::MatrixXd& mean_gradient,
                                           const Eigen::MatrixXd& second_moment);

/// Spec §27.5 (7), one path of a chain X_{k+1} = T(X_k) + root xi_k: a random variable w with
/// E[w | X_n] = grad log p_n(X_n).
///
///   w = K_0^T s_0 - sum_k (K_{k+1} - DT_k K_k)^T root^{-T} xi_k
///
/// `shifts` are K_0 ... K_n, K_n = I; `slopes` are DT(X_0) ... DT(X_{n-1}).
[[nodiscard]] Eigen::VectorXd shift_weight(const std::vector<Eigen::MatrixXd>& shifts,
                                           const std::vector<Eigen::MatrixXd>& slopes,
                                           const std::vector<Eigen::VectorXd>& normals,
                                           const Eigen::MatrixXd& root,
                                           const Eigen::VectorXd& start_score);

}  // namespace sfumato
