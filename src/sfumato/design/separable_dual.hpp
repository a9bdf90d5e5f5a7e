#pragma once

#include <Eigen/Core>
#include <vector>

#include "sfumato/design/differences.hpp"
#include "sfumato/design/dual_problem.hpp"
#include "sfumato/design/spread.hpp"

namespace sfumato {

/// Minimax noise with one variance per item (coordinate or group), Spec §9.4:
///
///   cost_k(u) = sum_i (weight_i s_ki^2 + constant_i) / u_i,   u_i >= floor_i,   sum u = budget
///
/// where u_i = weight_i variance_i. The differences are read where they are, K x d, twice for each
/// evaluation; nothing of that size is copied.
class SeparableDual final : public DualProblem {
 public:
  struct Items {
    Eigen::VectorXd weights;
    Eigen::VectorXd constants;
    Eigen::VectorXd floors;  ///< of u
    double budget;
  };

  SeparableDual(const Differences& differences, Items items, unsigned threads);

  [[nodiscard]] Eigen::Index count() const override { return differences_.rows(); }
  Point evaluate(const Eigen::VectorXd& weights) override;
  [[nodiscard]] Eigen::MatrixXd curvature(const std::vector<Eigen::Index>& active) const override;

  /// At the point last evaluated.
  [[nodiscard]] const Spread& spread() const { return spread_; }
  /// sum_i constant_i / u_i there.
  [[nodiscard]] double constant_cost() const { return constant_cost_; }

 private:
  Differences differences_;
  Items items_;
  unsigned threads_;
  Eigen::VectorXd moments_;  ///< g_i
  Spread spread_;
  double constant_cost_ = 0.0;
};

}  // namespace sfumato
