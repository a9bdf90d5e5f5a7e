#include "sfumato/design/dual_ascent.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/design/bounded_quadratic.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

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

}  // namespace

DualAscent maximise_dual(DualProblem& problem, const SolverOptions& options, Observer& observer) {
  return Ascent(problem, options, observer).run();
}

}  // namespace sfumato
