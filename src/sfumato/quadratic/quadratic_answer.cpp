#include "sfumato/quadratic/quadratic_answer.hpp"

#include <algorithm>
#include <cmath>

#include "sfumato/core/located.hpp"
#include "sfumato/quadratic/chain_bounds.hpp"
#include "sfumato/quadratic/quadratic_keys.hpp"
#include "sfumato/quadratic/training_pair.hpp"

namespace sfumato {
namespace {

constexpr int kCurvePoints = 33;
// Each point of a curve costs a diagonalisation; beyond this the listed looks must do.
constexpr Eigen::Index kLargestForCurves = 64;

/// From `low` to `high` with equal ratios.
std::vector<double> log_grid(double low, double high) {
  std::vector<double> grid(kCurvePoints);
  for (int i = 0; i < kCurvePoints; ++i) {
    grid[static_cast<std::size_t>(i)] =
        i + 1 == kCurvePoints ? high : low * std::pow(high / low, i / (kCurvePoints - 1.0));
  }
  return grid;
}

/// The times, or whole numbers of steps, at which curves look at a training.
std::vector<double> curve_looks(const QuadraticQuestion& question, const TrainingPair& training) {
  std::vector<double> listed;
  for (const double when : question.looks()) {
    if (when > 0.0 && std::isfinite(when)) listed.push_back(when);
  }
  std::sort(listed.begin(), listed.end());
  if (question.dimension() > kLargestForCurves) return listed;
  double low;
  double high;
  if (listed.empty()) {
    const auto [slowest, fastest] = training.rates();
    if (fastest == 0.0) return {};
    low = 0.01 / fastest;
    high = 10.0 / slowest;
    if (!std::isfinite(high)) return {};
  } else {
    low = listed.front() < listed.back() ? listed.front() : 0.01 * listed.back();
    high = listed.back();
  }
  if (question.chain() == nullptr) return log_grid(low, high);
  std::vector<double> steps = log_grid(std::max(low, 1.0), std::max(high, 1.0));
  for (double& step : steps) step = std::round(step);
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

void add_curve(const TrainingPair& training, Observer& observer, QuadraticAnswer& result) {
  const Epsilon epsilon{result.question.risk.epsilons.front()};
  const std::vector<double> looks = curve_looks(result.question, training);
  for (std::size_t i = 0; i < looks.size() && !observer.stop_requested(); ++i) {
    observer.progress("figures", i, looks.size());
    const auto pair = training.pair_at(looks[i]).first;
    if (!pair) continue;
    const Risk risk = Risk::exact(*pair);
    result.curve.push_back(
        {looks[i],
         {risk.kl(Direction::forward), risk.kl(Direction::reverse)},
         {risk.delta(Direction::forward, epsilon), risk.delta(Direction::reverse, epsilon)}});
  }
}

void observe_training(Observer& observer, QuadraticAnswer& result) {
  const QuadraticQuestion& question = result.question;
  const TrainingPair training(question.data, question.learning_rate());
  const std::vector<double> looks = question.looks();
  std::vector<double> seen;
  for (std::size_t i = 0; i < looks.size() && !observer.stop_requested(); ++i) {
    observer.progress(question.chain() != nullptr ? "steps" : "times", i, looks.size());
    result.observations.push_back(training.at(looks[i]));
    seen.push_back(looks[i]);
  }
  if (question.chain() != nullptr) {
    result.chain_bounds = chain_bounds(question.data, question.chain()->learning_rate, seen);
  }
  add_curve(training, observer, result);
}

}  // namespace

QuadraticAnswer answer(const QuadraticQuestion& question, Observer& observer) {
  require_quadratic(question);
  QuadraticAnswer result{question,
                         question.is_release() ? differences_of_releases(question.data)
                                               : differences_of_trainings(question.data),
                         {}};
  const Where where = question.source.empty() ? Where::here() : Where::in(question.source);
  located(where, [&] {
    if (question.is_release()) {
      result.observations.push_back(observe_release(question.data));
    } else {
      observe_training(observer, result);
    }
  });
  result.stopped = observer.stop_requested();
  return result;
}

}  // namespace sfumato
