#include "sfumato/answers/quadratic/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "sfumato/answers/quadratic/tables.hpp"
#include "sfumato/report/figure.hpp"
#include "sfumato/report/number.hpp"

namespace sfumato {
namespace {

constexpr int kFigurePoints = 33;
// Each point of a figure costs a diagonalisation; beyond this the listed looks must do.
constexpr Eigen::Index kLargestForFigures = 64;

/// From `low` to `high` with equal ratios.
std::vector<double> log_grid(double low, double high) {
  std::vector<double> grid(kFigurePoints);
  for (int i = 0; i < kFigurePoints; ++i) {
    grid[static_cast<std::size_t>(i)] =
        i + 1 == kFigurePoints ? high : low * std::pow(high / low, i / (kFigurePoints - 1.0));
  }
  return grid;
}

/// Collects one claimed number after the other; the series claims what its weakest number does.
class Curve {
 public:
  Curve(std::string key, std::string title) : series_{std::move(key), std::move(title), {}, {}} {}

  void add(double x, const Claimed<double>& y) {
    series_.x.push_back(x);
    series_.y.push_back(y.value);
    series_.method = y.method;
    if (y.claim != Claim::exact) series_.claim = y.claim;
  }
  [[nodiscard]] const Series& series() const { return series_; }

 private:
  Series series_;
};

Claimed<double> number(const Claimed<Nats>& kl) {
  return map(kl, [](Nats value) { return value.value(); });
}
Claimed<double> number(const Claimed<Delta>& delta) {
  return map(delta, [](Delta value) { return value.probability(); });
}

/// The times, or whole numbers of steps, at which figures look at a training.
std::vector<double> figure_looks(const QuadraticProblem& problem, const TrainingPair& training) {
  std::vector<double> listed;
  for (const double when : training.looks()) {
    if (when > 0.0 && std::isfinite(when)) listed.push_back(when);
  }
  std::sort(listed.begin(), listed.end());
  if (problem.dimension() > kLargestForFigures) return listed;
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
  if (!problem.chain()) return log_grid(low, high);
  std::vector<double> steps = log_grid(std::max(low, 1.0), std::max(high, 1.0));
  for (double& step : steps) step = std::round(step);
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

}  // namespace

void add_training_figures(const QuadraticProblem& problem, const TrainingPair& training,
                          Observer& observer, Document& document) {
  const Epsilon epsilon = problem.questions.epsilons.front();
  Curve kl[] = {{"forward", "KL(D||D')"}, {"reverse", "KL(D'||D)"}};
  Curve delta[] = {{"forward", "delta D||D'"}, {"reverse", "delta D'||D"}};
  const std::vector<double> looks = figure_looks(problem, training);
  for (std::size_t i = 0; i < looks.size() && !observer.stop_requested(); ++i) {
    observer.progress("figures", i, looks.size());
    const auto pair = training.pair_at(looks[i]).first;
    if (!pair) continue;
    const Risk risk = Risk::exact(*pair);
    for (const Direction direction : kDirections) {
      const auto k = static_cast<std::size_t>(direction == Direction::reverse);
      kl[k].add(looks[i], number(risk.kl(direction)));
      delta[k].add(looks[i], number(risk.delta(direction, epsilon)));
    }
  }
  const char* over = problem.chain() ? "steps" : "time";
  const Axis x{label_column(problem).title, "", Scale::log};
  Figure kl_figure(fmt::format("kl_over_{}", over), fmt::format("KL over {}", over), Mark::line, x,
                   {"KL", "nats"});
  Figure delta_figure(
      fmt::format("delta_over_{}", over),
      fmt::format("delta at epsilon = {} over {}", format_input(epsilon.nats()), over), Mark::line,
      x, {"delta"});
  for (const std::size_t k : {0U, 1U}) {
    kl_figure.add(kl[k].series());
    delta_figure.add(delta[k].series());
  }
  document.add(std::move(kl_figure));
  document.add(std::move(delta_figure));
}

void add_tradeoff(const std::vector<Observation>& observations, Document& document) {
  const auto last = std::find_if(observations.rbegin(), observations.rend(),
                                 [](const Observation& o) { return o.risk.has_value(); });
  if (last == observations.rend()) return;
  Curve best("best_attack", "best attack");
  for (const double fpr : log_grid(1e-4, 1.0)) best.add(fpr, last->risk->tpr(fpr));
  Figure figure("tradeoff", "Trade-off curve, " + last->name, Mark::line,
                {"false-positive rate", "", Scale::log}, {"true-positive rate", "", Scale::log});
  figure.add(best.series());
  document.add(std::move(figure));
}

}  // namespace sfumato
