#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <optional>
#include <span>
#include <vector>

#include "sfumato/sde/problem/classification.hpp"
#include "sfumato/sde/problem/convexity.hpp"

namespace sfumato {

/// The minimiser of a classification loss by Newton's method, to machine precision, with its
/// constants and a certificate.
///
/// |w - w*| is bounded by |grad f(w)|/kappa and, through the curvature lambda of f at w itself, by
/// -log(1 - R |grad f(w)|/lambda)/R with R = bending * max |x_l|: along a path of length r from w the
/// Hessian stays above e^{-R r} lambda. The second needs no ridge; it proves that a minimiser exists.
/// With softmax, where f does not see a common shift of all classes, both are taken among weights
/// that sum to zero over the classes, where the minimiser lies.
///
/// `start` is where Newton begins; zero when empty.
/// Throws   NumericalFailure if no minimiser can be certified: classes that a plane separates, or
///          features that others determine, without a ridge.
[[nodiscard]] Convexity convexity(const ClassificationProblem& problem,
                                  const std::optional<Eigen::VectorXd>& start = std::nullopt);

/// How the gradients of f (the table) and f' (a neighbour) differ; all upper bounds.
struct GradientGap {
  double at_minimiser;  ///< |grad f'(x*)|, x* the exact minimiser of f (Spec §7.4)
  double everywhere;    ///< |grad f - grad f'| at any w
  double lipschitz;     ///< Lipschitz constant of grad f - grad f'
};

/// A problem with its minimiser, and the minimisers of the neighbours near it.
class ClassificationFit {
 public:
  /// Throws as convexity().
  explicit ClassificationFit(ClassificationProblem problem);

  [[nodiscard]] const ClassificationProblem& problem() const { return problem_; }
  [[nodiscard]] const Convexity& convexity() const { return convexity_; }

  /// Constants and minimisers of the neighbours. Each begins with the Newton step from the minimiser
  /// of the table under the neighbour's own Hessian (a low-rank correction, O(p^2)). If its remainder,
  /// bounded in O(p^2) (logistic), leaves at most 100 `tolerance` of the shift, that is the result: in a
  /// long table nearly all rows. The others repeat the step with fresh gradients, O(N p), in blocks,
  /// until the certified distance is below `tolerance` of the shift or rounding allows no more. The
  /// few neighbours for which that fails (rows that dominate) are solved on their own. `lipschitz` is
  /// an upper bound without an eigenvalue problem per neighbour.
  ///
  /// Throws   InvalidArgument if a row does not exist, no row is left, or a replacement does not fit;
  ///          NumericalFailure as convexity(), for a neighbour without a minimiser.
  [[nodiscard]] std::vector<Convexity> neighbours(std::span<const Neighbour> neighbours,
                                                  double tolerance = 1e-4) const;

  /// O(p). Throws InvalidArgument as neighbours().
  [[nodiscard]] GradientGap gap(const Neighbour& neighbour) const;

 private:
  struct Change;
  void check(const Neighbour& neighbour) const;
  [[nodiscard]] Change change(const Neighbour& neighbour) const;
  void solve_block(std::span<const Neighbour> neighbours, double tolerance,
                   Convexity* results) const;
  void prepare_remainder(const Eigen::MatrixXd& hessian);
  [[nodiscard]] double certified_step(const Change& change, const Eigen::VectorXd& at,
                                      double rounding, double& gradient_norm) const;
  [[nodiscard]] double rounding_at(const Change& change, const Eigen::VectorXd& at) const;

  ClassificationProblem problem_;
  Convexity convexity_;
  double largest_gram_ = 0.0;     ///< lam_max(X^T X), rounded up
  double largest_norm_ = 0.0;     ///< max |x_l|
  double least_curvature_ = 0.0;  ///< of sum_l Hess f_l at the minimiser, rounded down
  Eigen::VectorXd sum_gradient_;
  Eigen::LLT<Eigen::MatrixXd> factor_;  ///< of the Hessian at the minimiser
  Eigen::MatrixXd sum_hessian_;         ///< of the rows at the minimiser
  Eigen::MatrixXd remainder_;  ///< K of certified_step(); empty if there is none (softmax, flat f)
  double metric_slack_ = 1.0;  ///< over the rounding of norms by factor_
};

}  // namespace sfumato
