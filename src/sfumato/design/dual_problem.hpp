#pragma once

#include <Eigen/Core>
#include <vector>

#include "sfumato/design/differences.hpp"
#include "sfumato/design/spread.hpp"

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

/// Eigenvalues and vectors of a second-moment matrix with the best variances along them.
struct SpectralNoise {
  Eigen::MatrixXd directions;  ///< r x r, orthonormal columns
  Eigen::VectorXd variances;   ///< along the directions
  double rest;                 ///< along each of the directions outside the coordinates
  double cost;                 ///< tr((G + rho I) Sigma^{-1}): mean cost plus regularising term
  double lower_bound;          ///< the cost less what rounding may have added
  double regularising;         ///< rho tr Sigma^{-1}
  Spread spread;            ///< over the directions, and the rest as one last item if there is any
  Eigen::VectorXd moments;  ///< eigenvalues of G + rho I, as used
};

/// Where Sigma lives, in coordinates where the budget is its trace.
struct SpectralSpace {
  Eigen::Index rest = 0;        ///< further directions that no difference has
  double regularisation = 0.0;  ///< rho
  double floor = 0.0;           ///< least variance in every direction
  double budget = 1.0;          ///< tr Sigma
};

/// Minimises  tr((G + rho I) Sigma^{-1}),  tr Sigma = budget, Sigma >= floor I (Spec §9.2; with a floor
/// the optimum still has the eigenvectors of G, since tr(G Sigma^{-1}) is least when the largest
/// variances meet the largest moments).
[[nodiscard]] SpectralNoise spectral_noise(const Eigen::MatrixXd& moments,
                                           const SpectralSpace& space);

/// Minimax over K differences, given as rows of coordinates (Spec §9.3).
class SpectralDual final : public DualProblem {
 public:
  SpectralDual(const Eigen::MatrixXd& coordinates, const SpectralSpace& space, unsigned threads);

  [[nodiscard]] Eigen::Index count() const override { return coordinates_.rows(); }
  Point evaluate(const Eigen::VectorXd& weights) override;
  [[nodiscard]] Eigen::MatrixXd curvature(const std::vector<Eigen::Index>& active) const override;

  /// At the point last evaluated.
  [[nodiscard]] const SpectralNoise& noise() const { return noise_; }

 private:
  const Eigen::MatrixXd& coordinates_;
  SpectralSpace space_;
  unsigned threads_;
  SpectralNoise noise_;
  Eigen::MatrixXd turned_;  ///< the differences along the directions, K x r
};

}  // namespace sfumato
