#pragma once

#include <Eigen/Core>
#include <vector>

#include "sfumato/design/dual_problem.hpp"
#include "sfumato/design/spread.hpp"

namespace sfumato {

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
