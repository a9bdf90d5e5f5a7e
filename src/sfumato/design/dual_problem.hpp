#pragma once

#include <Eigen/Core>
#include <vector>

namespace sfumato {

/// The dual of a minimax design (Spec §9.3, §16.7). For weights w on the simplex
///
///   D(w) = min over Sigma of  sum_k w_k cost_k(Sigma)
///
/// is below the minimax value, and the minimising Sigma gives max_k cost_k(Sigma) above it. D is
/// concave, of degree one in w, and its gradient is (cost_k). Costs include the regularising term.
class DualProblem {
 public:
  DualProblem() = default;
  DualProblem(const DualProblem&) = delete;
  DualProblem& operator=(const DualProblem&) = delete;
  virtual ~DualProblem() = default;

  struct Point {
    double dual;            ///< D(w)
    double lower_bound;     ///< D(w) less what rounding may have added
    Eigen::VectorXd costs;  ///< of every difference, at the minimising Sigma
  };

  /// How many differences there are.
  [[nodiscard]] virtual Eigen::Index count() const = 0;

  /// Moves to w > 0, sum w = 1.
  virtual Point evaluate(const Eigen::VectorXd& weights) = 0;

  /// Second derivatives of D at the point last evaluated, for the active weights only.
  [[nodiscard]] virtual Eigen::MatrixXd curvature(
      const std::vector<Eigen::Index>& active) const = 0;
};

}  // namespace sfumato
