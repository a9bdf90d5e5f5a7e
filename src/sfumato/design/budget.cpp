#include "sfumato/design/budget.hpp"

#include <fmt/format.h>

#include "sfumato/core/check.hpp"
#include "sfumato/core/overloaded.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kLeastBudget = 1e-300;  // shares of it still have all their digits

void require_definite(std::string_view name, const Covariance& matrix) {
  (void)require_covariance(name, matrix, Where::here("budget"));
  if (is_definite(matrix)) return;
  throw InvalidArgument(fmt::format("{} are not positive definite", name),
                        "Give every direction a positive weight, or noise there would cost nothing",
                        Where::here("budget"));
}

}  // namespace

Budget trace_budget(Index dimension, double trace) {
  return {Isotropic{1.0, dimension}, require_positive("trace", trace)};
}

Budget distance_budget(const Covariance& hessian, double squared_distance) {
  require_positive("squared_distance", squared_distance);
  require_definite("the entries of the Hessian", hessian);
  const Covariance half_inverse =
      std::visit(Overloaded{[](const Isotropic& a) -> Covariance {
                              return Isotropic{0.5 / a.variance, a.dimension};
                            },
                            [](const Diagonal& a) -> Covariance {
                              return Diagonal{0.5 * a.variances.cwiseInverse()};
                            },
                            [&](const auto&) -> Covariance {
                              const Index d = dimension(hessian);
                              const MatrixXd inverse = solve(hessian, MatrixXd::Identity(d, d));
                              return Dense{0.25 * (inverse + inverse.transpose())};
                            }},
                 hessian);
  return {half_inverse, squared_distance};
}

void require_budget(const Budget& budget) {
  if (require_positive("budget", budget.total, Where::here("budget")) < kLeastBudget) {
    throw InvalidArgument(
        fmt::format("budget = {} is at the end of the range of doubles", budget.total),
        "Give the differences and the budget in other units", Where::here("budget"));
  }
  require_definite("weights", budget.weights);
}

VectorXd inverse_diagonal(const Covariance& weights) {
  if (is_diagonal(weights)) return diagonal_of(weights).cwiseInverse();
  const Index d = dimension(weights);
  return solve(weights, MatrixXd::Identity(d, d)).diagonal();
}

double weighted_trace(const Covariance& weights, const Covariance& covariance) {
  if (is_diagonal(weights)) return diagonal_of(weights).dot(diagonal_of(covariance));
  if (is_diagonal(covariance)) return diagonal_of(weights).dot(diagonal_of(covariance));
  return dense(weights).cwiseProduct(dense(covariance)).sum();
}

}  // namespace sfumato
