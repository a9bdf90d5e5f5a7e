#include "reproduce/concentration.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>
#include <variant>

#include "sfumato/core/check.hpp"
#include "sfumato/math/symmetric_eigen.hpp"

namespace sfumato::apps {
namespace {

using Eigen::VectorXd;

double largest_eigenvalue(const Covariance& covariance) {
  if (std::holds_alternative<Isotropic>(covariance) ||
      std::holds_alternative<Diagonal>(covariance)) {
    return diagonal_of(covariance).maxCoeff();
  }
  const SymmetricEigen eigen(dense(covariance), SymmetricEigen::Want::values);
  return eigen.eigenvalues().maxCoeff();
}

/// V^{-1} D after the checks that both versions share.
VectorXd solve_checked(const VectorXd& mean_difference, const Covariance& covariance,
                       const Where& where) {
  require_size("mean_difference", mean_difference.size(), dimension(covariance), where);
  for (Eigen::Index i = 0; i < mean_difference.size(); ++i) {
    require_finite(fmt::format("mean_difference[{}]", i), mean_difference(i), where);
  }
  return solve(covariance, mean_difference);
}

/// exp(-(eps - kl)^2 / spread). The exact delta is at most half of it: only underflow could get
/// below, and the next double is above 0.
Claimed<Delta> tail(double epsilon, double kl, double spread, std::string method) {
  const double r = epsilon - kl;
  double delta = 1.0;
  if (r > 0.0) delta = spread > 0.0 ? std::nextafter(std::exp(-r * (r / spread)), 1.0) : 0.0;
  return {Delta(delta),
          Claim::upper_bound,
          std::move(method),
          {"p and q are normal with the same covariance",
           "for comparison with the paper only: the exact delta is far smaller"}};
}

}  // namespace

Claimed<Delta> delta_from_concentration_as_printed(const VectorXd& mean_difference,
                                                   const Covariance& covariance, Epsilon epsilon) {
  const VectorXd gradient = solve_checked(mean_difference, covariance, Where::here());
  const double kl = 0.5 * mean_difference.dot(gradient);
  return tail(epsilon.nats(), kl, 2.0 * largest_eigenvalue(covariance) * gradient.squaredNorm(),
              "concentration of log(p/q), as printed");
}

Claimed<Delta> delta_from_concentration_whitened(const VectorXd& mean_difference,
                                                 const Covariance& covariance, Epsilon epsilon) {
  const VectorXd gradient = solve_checked(mean_difference, covariance, Where::here());
  const double kl = 0.5 * mean_difference.dot(gradient);
  return tail(epsilon.nats(), kl, 4.0 * kl, "concentration of log(p/q), whitened");
}

}  // namespace sfumato::apps
