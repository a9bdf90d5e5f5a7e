#include "sfumato/design/minimax_design.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "sfumato/core/check.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/design/bounded_quadratic.hpp"
#include "sfumato/design/dual_problem.hpp"
#include "sfumato/design/frame.hpp"
#include "sfumato/design/grouping.hpp"
#include "sfumato/design/task_rules.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

struct DualAscent {
  Eigen::VectorXd weights;  ///< where the upper bound was smallest
  double upper_bound;       ///< max_k cost_k there
  double lower_bound;       ///< the largest D(w) met
  int iterations;
  bool converged;
};

constexpr int kWarmUp = 12;                // multiplicative updates before the first Newton step
constexpr int kRest = 6;                   // and after one that failed
constexpr std::size_t kMostActive = 1500;  // a Newton step factors matrices of this size
constexpr double kUpdatesAhead = 40.0;     // decide which weights a Newton step leaves out
constexpr int kPatience = 200;  // evaluations that may pass until the gap is smaller by one percent
// Weights stay positive, so that no cost is infinite and a pair that was given up can come back.
constexpr double kLeastShare = 1e-3;  // of its last value that a weight keeps in one Newton step
constexpr double kLeastWeight = 1e-200;
// D carries rounding; near the optimum the costs improve long after D has stopped to.
constexpr double kRounding = 4e-15;

class Ascent {
 public:
  Ascent(DualProblem& problem, const SolverOptions& options, Observer& observer)
      : problem_(problem), options_(options), observer_(observer) {
    const Index count = problem.count();
    weights_ = VectorXd::Constant(count, 1.0 / static_cast<double>(count));
  }

  DualAscent run() {
    accept(weights_, evaluate(weights_));
    int newton_at = kWarmUp;
    while (!converged() && result_.iterations < options_.max_iterations && !stalled() &&
           !observer_.stop_requested()) {
      if (result_.iterations < newton_at || !newton_step()) {
        if (result_.iterations >= newton_at) newton_at = result_.iterations + kRest;
        multiplicative_step();
      }
      observer_.progress("design", static_cast<std::uint64_t>(result_.iterations),
                         static_cast<std::uint64_t>(options_.max_iterations));
    }
    if (result_.weights.size() == 0) {  // no cost was ever below +inf
      throw NumericalFailure(
          "the cost of some difference overflows for every way to spend the budget",
          "Raise the budget, or rescale the differences to a size near one", Where::here("design"));
    }
    result_.converged = converged();
    return result_;
  }

 private:
  [[nodiscard]] bool converged() const {
    return result_.upper_bound <= (1.0 + options_.tolerance) * result_.lower_bound;
  }

  /// Whether the bounds have stopped to approach each other: what is left is rounding.
  [[nodiscard]] bool stalled() {
    const double gap = result_.upper_bound / result_.lower_bound - 1.0;
    if (!(gap > 0.99 * last_gap_)) {
      last_gap_ = gap;
      last_gain_ = result_.iterations;
    }
    return result_.iterations - last_gain_ > kPatience;
  }

  DualProblem::Point evaluate(const VectorXd& weights) {
    ++result_.iterations;
    DualProblem::Point point = problem_.evaluate(weights);
    result_.lower_bound = std::max(result_.lower_bound, point.lower_bound);
    const double upper = point.costs.maxCoeff();
    if (upper < result_.upper_bound) {
      result_.upper_bound = upper;
      result_.weights = weights;
    }
    evaluated_ = weights;
    return point;
  }

  void accept(VectorXd weights, DualProblem::Point point) {
    weights_ = std::move(weights);
    point_ = std::move(point);
  }

  static VectorXd on_simplex(VectorXd weights) {
    weights = weights.cwiseMax(kLeastWeight);
    return weights / weights.sum();
  }

  /// The power 1 never lowers D; a higher one is faster and usually does not.
  void multiplicative_step() {
    for (;;) {
      const VectorXd ratio = point_.costs / point_.dual;
      const VectorXd weights = on_simplex((weights_.array() * ratio.array().pow(power_)).matrix());
      DualProblem::Point point = evaluate(weights);
      const bool better = point.dual >= point_.dual * (1.0 - kRounding);
      if (better || power_ <= 1.0) {
        accept(weights, std::move(point));
        if (better) power_ = std::min(4.0, power_ * 1.1);
        return;
      }
      power_ = std::max(1.0, 0.5 * power_);
    }
  }

  /// The weights a Newton step moves: those that count, and those whose cost asks for more.
  [[nodiscard]] std::vector<Index> active() const {
    // Where many updates would put a weight says more than where it is.
    const VectorXd score =
        weights_.array() * (point_.costs.array() / point_.dual).pow(kUpdatesAhead);
    const double least = 1e-6 * score.maxCoeff();
    std::vector<Index> active;
    for (Index k = 0; k < weights_.size(); ++k) {
      if (score(k) > least || point_.costs(k) > point_.dual) active.push_back(k);
    }
    if (active.size() > kMostActive) {
      std::nth_element(
          active.begin(), active.begin() + kMostActive, active.end(),
          [&](Index a, Index b) { return score(a) != score(b) ? score(a) > score(b) : a < b; });
      active.resize(kMostActive);
      std::sort(active.begin(), active.end());
    }
    return active;
  }

  bool newton_step() {
    if (evaluated_ != weights_) (void)evaluate(weights_);  // the curvature belongs to this point
    const std::vector<Index> moved = active();
    const VectorXd slope = VectorXd(point_.costs(moved)) / point_.dual;
    MatrixXd bend = problem_.curvature(moved) / -point_.dual + 0.5 * slope * slope.transpose();
    // Weights may not be unique (Spec §9.3): what does not matter should not move.
    bend.diagonal().array() += 1e-11 * bend.diagonal().maxCoeff();
    const VectorXd from = weights_(moved);
    const VectorXd pull = (slope.array() - 1.0).matrix() + bend * from;
    const VectorXd to = minimise_bounded_quadratic(bend, pull, kLeastShare * from, from);

    VectorXd direction = VectorXd::Zero(weights_.size());
    // Weights that are left out are on their way to zero: many updates at once.
    direction =
        weights_.array() * ((point_.costs.array() / point_.dual).min(1.0).pow(kUpdatesAhead) - 1.0);
    direction(moved) = to - from;
    const double upper = point_.costs.maxCoeff();
    for (double length = 1.0; length > 0.01; length *= 0.4) {
      const VectorXd weights = on_simplex(weights_ + length * direction);
      DualProblem::Point point = evaluate(weights);
      const bool rises = point.dual > point_.dual * (1.0 + kRounding);
      const bool level = point.dual >= point_.dual * (1.0 - kRounding);
      if (rises || (level && point.costs.maxCoeff() < upper)) {
        accept(weights, std::move(point));
        return true;
      }
      if (converged()) return true;
    }
    return false;
  }

  DualProblem& problem_;
  const SolverOptions& options_;
  Observer& observer_;
  VectorXd weights_;
  VectorXd evaluated_;
  DualProblem::Point point_{0.0, 0.0, {}};
  double power_ = 1.5;
  double last_gap_ = std::numeric_limits<double>::infinity();
  int last_gain_ = 0;
  DualAscent result_{{}, std::numeric_limits<double>::infinity(), 0.0, 0, false};
};

/// Maximises D over the simplex until  upper_bound <= (1 + tolerance) lower_bound.
///
/// Starts with the multiplicative update of Spec §9.3 (5), then alternates with Newton steps: D is of
/// degree one, so its maximum over the simplex is that of 2 sqrt(D) - sum w over w >= 0, whose
/// quadratic model is minimised with bounds on the weights that matter. A step is kept only if D
/// rises, otherwise the multiplicative update is used. Both bounds hold at every step.
///
/// Stops at the next step when the observer asks, and where rounding keeps the bounds apart (second
/// moments whose eigenvalues differ by twelve decades), with what it has.
DualAscent maximise_dual(DualProblem& problem, const SolverOptions& options, Observer& observer) {
  return Ascent(problem, options, observer).run();
}

Design from_ascent(const DualAscent& ascent, double regularising, Covariance covariance) {
  Design design{.covariance = std::move(covariance),
                .budget = 0.0,
                .value = ascent.upper_bound - regularising,
                .objective = ascent.upper_bound,
                .lower_bound = ascent.lower_bound,
                .gap = std::max(0.0, ascent.upper_bound / ascent.lower_bound - 1.0),
                .iterations = ascent.iterations,
                .pair_weights = ascent.weights,
                .isotropic_value = 0.0};
  if (!ascent.converged) design.warnings.push_back(DesignWarning::not_converged);
  return design;
}

Design separable(const Differences& differences, const DesignTask& task,
                 const SolverOptions& options, Observer& observer) {
  const Grouping grouping(task);
  RowMajorMatrix pooled;
  if (task.form != DesignForm::diagonal) pooled = grouping.pool_roots(differences);
  const Differences& view = task.form == DesignForm::diagonal ? differences : Differences(pooled);
  SeparableDual dual(view, grouping.items(), options.threads);
  const DualAscent ascent = maximise_dual(dual, options, observer);
  (void)dual.evaluate(ascent.weights);
  const VectorXd& shares = dual.spread().shares;
  Design design = from_ascent(ascent, dual.constant_cost(), grouping.covariance(shares));
  design.budget = shares.sum();
  design.silent = grouping.silent(shares);
  if (design.silent > 0) design.warnings.push_back(DesignWarning::silent_coordinates);
  return design;
}

Design isotropic(const Differences& differences, const DesignTask& task) {
  const Grouping grouping(task);
  const SeparableDual::Items& items = grouping.items();
  Index worst = 0;
  const double largest = differences.rowwise().squaredNorm().maxCoeff(&worst);
  const double value = largest * items.weights(0) / items.budget;
  const double objective = value + items.constants(0) / items.budget;
  Design design{.covariance = grouping.covariance(VectorXd::Constant(1, items.budget)),
                .budget = items.budget,
                .value = value,
                .objective = objective,
                .lower_bound = objective,
                .gap = 0.0,
                .isotropic_value = 0.0};
  design.pair_weights = VectorXd::Zero(differences.rows());
  design.pair_weights(worst) = 1.0;
  return design;
}

Design spectral(const Differences& differences, const DesignTask& task,
                const SolverOptions& options, Observer& observer) {
  const Whitening whitening(task.budget.weights);
  const double floor = whitened_floor(task);
  const bool everywhere = floor > 0.0 || task.regularisation > 0.0;
  Frame frame = frame_of(whitening.columns(differences.transpose()));
  if (!everywhere) frame = restricted_to_range(std::move(frame));
  if (!frame.outside) {
    refuse_single_direction(frame.coordinates.cols(), frame.dimension, everywhere);
  }
  SpectralDual dual(frame.coordinates,
                    {frame.rest(), task.regularisation, floor, task.budget.total}, options.threads);
  const DualAscent ascent = maximise_dual(dual, options, observer);
  (void)dual.evaluate(ascent.weights);
  Design design = from_ascent(ascent, dual.noise().regularising,
                              lifted(dual.noise(), frame, whitening, task.form));
  design.budget = task.budget.total;
  if (frame.outside) {
    design.value = design.objective = design.gap = kInf;
    design.warnings.push_back(DesignWarning::dropped_direction);
  }
  if (!everywhere && frame.rest() > 0) design.warnings.push_back(DesignWarning::rank_deficient);
  return design;
}

}  // namespace

Design minimax_design(const Differences& differences, const DesignTask& task,
                      const SolverOptions& options, Observer& observer) {
  require_differences(differences);
  require_task(task, differences.cols());
  require_positive("tolerance", options.tolerance);
  refuse_wrong_low_rank(task, differences.rows(), differences.cols());
  Design design = [&] {
    switch (task.form) {
      case DesignForm::isotropic: return isotropic(differences, task);
      case DesignForm::grouped:
      case DesignForm::diagonal: return separable(differences, task, options, observer);
      case DesignForm::full:
      case DesignForm::low_rank: break;
    }
    return spectral(differences, task, options, observer);
  }();
  if (task.form == DesignForm::diagonal) design.diagonal_value = design.value;
  if (options.compare && task.form != DesignForm::diagonal) {
    DesignTask diagonal = task;
    diagonal.form = DesignForm::diagonal;
    design.diagonal_value = separable(differences, diagonal, options, observer).value;
  }
  design.isotropic_value = isotropic_value(differences.rowwise().squaredNorm().maxCoeff(), task);
  return design;
}

DesignCosts costs_of(const Covariance& covariance, const Differences& differences) {
  require_size("covariance", dimension(covariance), differences.cols());
  const Index count = differences.rows();
  VectorXd costs(count);
  if (is_diagonal(covariance)) {
    const VectorXd variances = diagonal_of(covariance);
    const VectorXd inverse = (variances.array() > 0.0).select(variances.cwiseInverse(), 0.0);
    for (Index k = 0; k < count; ++k) {
      const auto row = differences.row(k);
      const bool bare = ((variances.array() == 0.0) && (row.transpose().array() != 0.0)).any();
      costs(k) = bare ? kInf : sum_of_weighted_squares(row.data(), inverse.data(), inverse.size());
    }
  } else {
    const MatrixXd columns = differences.transpose();
    costs = columns.cwiseProduct(solve(covariance, columns)).colwise().sum().transpose();
  }
  return {costs.maxCoeff(), costs.mean()};
}

}  // namespace sfumato
