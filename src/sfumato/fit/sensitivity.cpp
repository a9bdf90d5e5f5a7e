#include "sfumato/fit/sensitivity.hpp"

#include <algorithm>
#include <cmath>

#include "sfumato/account/accountant/last_iterate.hpp"
#include "sfumato/core/check.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

bool replaced(NeighbouringRelation relation) {
  return relation == NeighbouringRelation::replace_one;
}

}  // namespace

double longest_row(double numeric, const std::vector<double>& group_weights, double intercept) {
  double square = require_non_negative("numeric", numeric) + intercept * intercept;
  for (const double weight : group_weights) square += weight * weight;
  return std::sqrt(require_finite("the square of the longest row", square));
}

double second_moment_mu(double bound, double noise_std, NeighbouringRelation relation) {
  require_positive("noise_std", noise_std);
  return (replaced(relation) ? std::sqrt(2.0) : 1.0) * bound * bound / noise_std;
}

double cross_moment_sensitivity(double row_norm, double target_bound, double scale,
                                NeighbouringRelation relation) {
  const double r = row_norm, y = scale * target_bound;
  if (!replaced(relation)) return std::sqrt(r * r * r * r + 2.0 * r * r * y * y);
  return y <= r ? std::sqrt(2.0) * (r * r + y * y) : std::sqrt(8.0) * r * y;
}

NoiseEdge symmetric_noise_edge(double dim, double noise_std, double beta) {
  if (!(beta > 0.0 && beta < 1.0)) {
    throw InvalidArgument("beta is not in (0, 1)", "Pass a small probability");
  }
  const double edge = noise_std * std::sqrt(2.0 * dim);
  return {edge, edge + noise_std * std::sqrt(2.0 * std::log(2.0 / beta))};
}

BudgetSplit split_budget(double mu, double rho, double steps, NeighbouringRelation relation) {
  require_positive("mu", mu);
  require_positive("steps", steps);
  if (!(rho >= 0.0 && rho < 1.0)) {
    throw InvalidArgument("rho is not in [0, 1)", "Pass the share of the second moments");
  }
  const double a = replaced(relation) ? std::sqrt(2.0) : 1.0, b = replaced(relation) ? 2.0 : 1.0;
  const double step_mu = mu * std::sqrt((1.0 - rho) / steps);
  return {a / (std::sqrt(rho) * mu), b / step_mu, step_mu};
}

double minimiser_sensitivity(double gradient_bound, double ridge, double rows, double tolerance,
                             NeighbouringRelation relation) {
  require_positive("ridge", ridge);
  require_positive("rows", rows);
  const double k = replaced(relation) ? 2.0 : 1.0;
  return k * gradient_bound / (ridge * rows) +
         2.0 * require_non_negative("tolerance", tolerance) / ridge;
}

LastIterate last_iterate_of(double learning_rate, double ridge, double smoothness,
                            std::uint64_t steps, double noise_multiplier) {
  require_positive("noise_multiplier", noise_multiplier);
  const double c = std::min(1.0, std::max(std::abs(1.0 - learning_rate * ridge),
                                          std::abs(1.0 - learning_rate * (ridge + smoothness))));
  const double composed = std::sqrt(static_cast<double>(steps)) / noise_multiplier;
  const double contracted = last_iterate_mu(1.0 / noise_multiplier, c, steps).value;
  return {c, composed, contracted, std::min(composed, contracted)};
}

SelectionMu selection_mu(double candidates, double loss_bound, double noise_std,
                         NeighbouringRelation relation) {
  require_positive("noise_std", noise_std);
  const double all = loss_bound * std::sqrt(candidates) / noise_std;
  return {all, replaced(relation) ? all : 0.5 * all};
}

double multiplier_of_mu(double mu, NeighbouringRelation relation) {
  const double distance = replaced(relation) ? 2.0 : 1.0;
  const double multiplier = distance / require_positive("mu", mu);
  return multiplier * (1.0 - 0x1p-51);  // a quotient rounded up would promise more than there is
}

}  // namespace sfumato
