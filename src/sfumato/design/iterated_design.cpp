#include "sfumato/design/iterated_design.hpp"

#include <algorithm>
#include <utility>

#include "sfumato/core/check.hpp"
#include "sfumato/design/average_design.hpp"
#include "sfumato/design/grouping.hpp"
#include "sfumato/math/symmetric_eigen.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kLongestStep = 0.999;
constexpr double kShorter = 0.25;
constexpr int kTrials = 5;  // 0.4 % of the way at last
/// Keeps moments of rank one definite; their design then differs by 1e-6 of its value per direction.
constexpr double kRankGuard = 1e-12;

/// Means over the groups of a task, in the place of the coordinates.
VectorXd by_group(const VectorXd& entries, const std::vector<Index>& groups) {
  const Index count = *std::max_element(groups.begin(), groups.end()) + 1;
  VectorXd sums = VectorXd::Zero(count), sizes = VectorXd::Zero(count);
  for (Index i = 0; i < entries.size(); ++i) {
    const Index group = groups[static_cast<std::size_t>(i)];
    sums(group) += entries(i);
    sizes(group) += 1.0;
  }
  return VectorXd::NullaryExpr(entries.size(), [&](Index i) {
    const Index group = groups[static_cast<std::size_t>(i)];
    return sums(group) / sizes(group);
  });
}

/// G + c Sigma W Sigma with the least c >= 0 that makes it positive semi-definite. What is added
/// changes the slope of tr(G Sigma^{-1}) by -c W: nothing within the budget.
Covariance usable(const Covariance& moments, const Covariance& noise, const DesignTask& task) {
  if (task.form == DesignForm::full) {
    const MatrixXd g = dense(moments);
    MatrixXd neutral = multiply(noise, multiply(noise, dense(task.budget.weights)).transpose());
    neutral = 0.5 * (neutral + neutral.transpose()).eval();
    const VectorXd pencil = pencil_eigenvalues(0.5 * (g + g.transpose()), neutral);
    MatrixXd sum = g + std::max(0.0, -pencil(0)) * neutral;
    sum = 0.5 * (sum + sum.transpose()).eval();
    const double guard = kRankGuard * sum.trace();
    sum.diagonal().array() += guard;
    return Dense{std::move(sum)};
  }
  VectorXd g = diagonal_of(moments);
  VectorXd neutral = diagonal_of(task.budget.weights).cwiseProduct(diagonal_of(noise).cwiseAbs2());
  if (task.form == DesignForm::grouped) {
    g = by_group(g, task.groups);
    neutral = by_group(neutral, task.groups);
  }
  const double shift = std::max(0.0, -g.cwiseQuotient(neutral).minCoeff());
  return Diagonal{(g + shift * neutral).cwiseMax(0.0)};
}

/// How much less tr(G Sigma^{-1}) is to first order for the best noise of the form and budget: all of
/// the budget where it helps most. Where the KL is convex, no noise gains more.
double first_order_gain(const Covariance& moments, const Covariance& noise,
                        const DesignTask& task) {
  const double total = task.budget.total;
  if (task.form == DesignForm::full) {
    const MatrixXd half = solve(noise, dense(moments));  // Sigma^{-1} G
    const MatrixXd slope = solve(noise, half.transpose());
    const VectorXd pencil =
        pencil_eigenvalues(0.5 * (slope + slope.transpose()), dense(task.budget.weights));
    return total * pencil.maxCoeff() - half.trace();
  }
  const VectorXd variances = diagonal_of(noise);
  VectorXd slope = diagonal_of(moments).cwiseQuotient(variances.cwiseAbs2());
  VectorXd weights = diagonal_of(task.budget.weights);
  if (task.form == DesignForm::grouped) {
    slope = by_group(slope, task.groups);
    weights = by_group(weights, task.groups);
  }
  return total * slope.cwiseQuotient(weights).maxCoeff() - slope.dot(variances);
}

Covariance mixture(const Covariance& from, const Covariance& to, double step) {
  if (is_diagonal(from) && is_diagonal(to)) {
    return Diagonal{(1.0 - step) * diagonal_of(from) + step * diagonal_of(to)};
  }
  return Dense{(1.0 - step) * dense(from) + step * dense(to)};
}

void require_iterable(const DesignTask& task, Index dimension) {
  require_task(task, dimension);
  if (task.form == DesignForm::low_rank) {
    throw InvalidArgument("low-rank noise cannot be iterated", "Ask for the full or diagonal form",
                          Where::here("iterate_design"));
  }
  if (task.floor.size() > 0 && task.floor.minCoeff() != task.floor.maxCoeff()) {
    throw InvalidArgument("the floor is not the same for all coordinates",
                          "Isotropic noise, the first round, must lie above it",
                          Where::here("iterate_design"));
  }
}

}  // namespace

std::string_view describe(IterationEnd end) {
  switch (end) {
    case IterationEnd::stationary:
      return "to first order, no noise of this form and budget does better";
    case IterationEnd::no_improvement:
      return "neither the next design nor shorter steps towards it do better";
    case IterationEnd::converged: return "the last improvement was below the tolerance";
    case IterationEnd::out_of_rounds: return "out of rounds; more of them may still improve";
    case IterationEnd::stopped: return "stopped on request";
  }
  throw InternalError("unknown end of an iteration");
}

IteratedDesign iterate_design(const NoiseJudge& judge, const DesignTask& task,
                              const IterationOptions& options, Observer& observer) {
  const Index d = dimension(task.budget.weights);
  require_iterable(task, d);
  require_positive("tolerance", options.tolerance);
  const Covariance isotropic = Isotropic{task.budget.total / trace(task.budget.weights), d};
  NoiseJudgement best = judge(isotropic);
  IteratedDesign result{{{isotropic, best.kl, true}}, 0, IterationEnd::out_of_rounds};
  const auto finish = [&](IterationEnd end) {
    result.end = end;
    return result;
  };
  if (observer.stop_requested()) return finish(IterationEnd::stopped);
  if (task.form == DesignForm::isotropic) return finish(IterationEnd::stationary);
  for (int round = 1; round <= options.max_rounds; ++round) {
    observer.progress("rounds", static_cast<std::uint64_t>(round - 1),
                      static_cast<std::uint64_t>(options.max_rounds));
    const Covariance present = result.result().noise;
    const double kl = best.kl.value.value();
    const Covariance moments = usable(best.second_moments, present, task);
    if (!(first_order_gain(moments, present, task) > options.tolerance * kl)) {
      return finish(IterationEnd::stationary);
    }
    const Design next = average_design(moments, task);
    double step = kLongestStep;
    bool accepted = false;
    for (int trial = 0; trial < kTrials && !accepted; ++trial, step *= kShorter) {
      const Covariance noise = mixture(present, next.covariance, step);
      NoiseJudgement judgement = judge(noise);
      if (observer.stop_requested()) return finish(IterationEnd::stopped);
      accepted = judgement.kl.value.value() < kl;
      result.rounds.push_back({noise, judgement.kl, accepted});
      if (!accepted) continue;
      result.best = result.rounds.size() - 1;
      best = std::move(judgement);
    }
    if (!accepted) return finish(IterationEnd::no_improvement);
    if (kl - best.kl.value.value() <= options.tolerance * kl) {
      return finish(IterationEnd::converged);
    }
  }
  return finish(IterationEnd::out_of_rounds);
}

}  // namespace sfumato
