#include "sfumato/design/budget_for_risk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sfumato/core/check.hpp"

namespace sfumato {
namespace {

[[noreturn]] void throw_out_of_reach(double risk, double value) {
  throw NumericalFailure(fmt::format("no budget brings the cost to {}: it is {}", risk, value),
                         "Set a floor or a regularisation, or ask for a larger risk",
                         Where::here("design_for_risk"));
}

}  // namespace

Design design_for_risk(const std::function<Design(double)>& solve, double risk,
                       double least_budget) {
  require_positive("risk", risk);
  require_non_negative("least_budget", least_budget);
  if (least_budget == 0.0) {
    const Design unit = solve(1.0);
    if (!std::isfinite(unit.value)) throw_out_of_reach(risk, unit.value);
    return rescaled(unit, unit.value / risk);
  }
  // 1/value grows almost linearly with the budget (exactly without a floor): secant steps on it.
  constexpr int kSteps = 60;
  constexpr double kTolerance = 1e-9;
  double low = least_budget;
  Design best = solve(low);
  if (best.value <= risk) return best;
  double low_inverse = 1.0 / best.value;
  double high = low;
  do {
    if (!std::isfinite(best.value) || high > 1e12 * least_budget)
      throw_out_of_reach(risk, best.value);
    high *= std::max(2.0, best.value / risk);
    best = solve(high);
  } while (best.value > risk);
  for (int step = 0; step < kSteps && best.value < risk * (1.0 - kTolerance); ++step) {
    const double high_inverse = 1.0 / best.value;
    // Aimed a little past the root, so that the side that is kept moves; halving keeps it honest.
    double share = (1.0 / risk - low_inverse) / (high_inverse - low_inverse) + 0.25 * kTolerance;
    if (step % 4 == 3) share = 0.5;
    const double middle = low + std::min(1.0, share) * (high - low);
    Design trial = solve(middle);
    if (trial.value <= risk) {
      high = middle;
      best = std::move(trial);
    } else {
      low = middle;
      low_inverse = 1.0 / trial.value;
    }
  }
  return best;
}

namespace {

using Eigen::Index;
using Eigen::VectorXd;

/// The diagonal of W Sigma.
VectorXd budget_by_coordinate(const Covariance& covariance, const Covariance& weights) {
  require_size("weights", dimension(weights), dimension(covariance), Where::here("noise_shares"));
  if (is_diagonal(weights) || is_diagonal(covariance)) {
    return diagonal_of(weights).cwiseProduct(diagonal_of(covariance));
  }
  return dense(weights).cwiseProduct(dense(covariance)).rowwise().sum();
}

std::vector<NoiseShare> largest(std::vector<NoiseShare> shares, Index count) {
  const auto kept =
      static_cast<std::ptrdiff_t>(std::clamp<Index>(count, 0, static_cast<Index>(shares.size())));
  std::partial_sort(shares.begin(), shares.begin() + kept, shares.end(),
                    [](const NoiseShare& a, const NoiseShare& b) {
                      return a.share != b.share ? a.share > b.share : a.index < b.index;
                    });
  shares.erase(shares.begin() + kept, shares.end());
  return shares;
}

}  // namespace

std::vector<NoiseShare> largest_coordinates(const Covariance& covariance, const Covariance& weights,
                                            Index count) {
  const VectorXd spent = budget_by_coordinate(covariance, weights);
  const VectorXd variances = diagonal_of(covariance);
  const double total = spent.sum();
  std::vector<NoiseShare> shares;
  for (Index i = 0; i < spent.size(); ++i) shares.push_back({i, variances(i), spent(i) / total});
  return largest(std::move(shares), count);
}

std::vector<NoiseShare> largest_groups(const Covariance& covariance, const Covariance& weights,
                                       const std::vector<Index>& groups, Index count) {
  const VectorXd spent = budget_by_coordinate(covariance, weights);
  const VectorXd variances = diagonal_of(covariance);
  require_size("groups", static_cast<std::ptrdiff_t>(groups.size()), spent.size());
  std::vector<NoiseShare> shares;
  std::vector<double> sizes;
  for (Index i = 0; i < spent.size(); ++i) {
    const Index group = groups[static_cast<std::size_t>(i)];
    if (group < 0 || group >= spent.size()) {
      throw InvalidArgument("a group number is negative or above the number of coordinates",
                            "Number the groups from 0");
    }
    const auto g = static_cast<std::size_t>(group);
    while (shares.size() <= g) {
      shares.push_back({static_cast<Index>(shares.size()), 0.0, 0.0});
      sizes.push_back(0.0);
    }
    shares[g].variance += variances(i);
    shares[g].share += spent(i);
    sizes[g] += 1.0;
  }
  const double total = spent.sum();
  for (std::size_t g = 0; g < shares.size(); ++g) {
    if (sizes[g] > 0.0) shares[g].variance /= sizes[g];
    shares[g].share /= total;
  }
  return largest(std::move(shares), count);
}

}  // namespace sfumato
