#include "quadratic/document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "command.hpp"
#include "quadratic/tables.hpp"
#include "sfumato/report/figure.hpp"
#include "sfumato/report/number.hpp"

namespace sfumato::cli {
namespace {

constexpr int kFigurePoints = 33;
// Each point of a figure costs a diagonalisation; beyond this the listed times must do.
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

/// The times at which figures look at a flow.
std::vector<double> figure_times(const QuadraticProblem& problem, const FlowPair& flow) {
  std::vector<double> listed;
  for (const double time : std::get<Flow>(problem.output).times) {
    if (time > 0.0 && std::isfinite(time)) listed.push_back(time);
  }
  std::sort(listed.begin(), listed.end());
  if (problem.dimension() > kLargestForFigures) return listed;
  if (listed.empty()) {
    const auto [slowest, fastest] = flow.rates();
    if (fastest == 0.0) return {};
    return log_grid(0.01 / fastest, 10.0 / slowest);
  }
  return log_grid(listed.front() < listed.back() ? listed.front() : 0.01 * listed.back(),
                  listed.back());
}

void add_time_figures(const QuadraticProblem& problem, const FlowPair& flow, Observer& observer,
                      Document& document) {
  const Epsilon epsilon = problem.questions.epsilons.front();
  Curve kl[] = {{"forward", "KL(D||D')"}, {"reverse", "KL(D'||D)"}};
  Curve delta[] = {{"forward", "delta D||D'"}, {"reverse", "delta D'||D"}};
  const std::vector<double> times = figure_times(problem, flow);
  for (std::size_t i = 0; i < times.size() && !observer.stop_requested(); ++i) {
    observer.progress("figures", i, times.size());
    const auto pair = flow.pair_at(times[i]).first;
    if (!pair) continue;
    const Risk risk = Risk::exact(*pair);
    for (const Direction direction : kDirections) {
      const auto k = static_cast<std::size_t>(direction == Direction::reverse);
      kl[k].add(times[i], number(risk.kl(direction)));
      delta[k].add(times[i], number(risk.delta(direction, epsilon)));
    }
  }
  const Axis time{"t", "", Scale::log};
  Figure kl_figure("kl_over_time", "KL over time", Mark::line, time, {"KL", "nats"});
  Figure delta_figure("delta_over_time",
                      fmt::format("delta at epsilon = {} over time", format_input(epsilon.nats())),
                      Mark::line, time, {"delta"});
  for (const std::size_t k : {0U, 1U}) {
    kl_figure.add(kl[k].series());
    delta_figure.add(delta[k].series());
  }
  document.add(std::move(kl_figure));
  document.add(std::move(delta_figure));
}

/// Of the last output that has a law.
void add_tradeoff(const std::vector<Observation>& observations, Document& document) {
  const auto last = std::find_if(observations.rbegin(), observations.rend(),
                                 [](const Observation& o) { return o.risk.has_value(); });
  if (last == observations.rend()) return;
  Curve best("best_attack", "best attack");
  for (const double fpr : log_grid(1e-4, 1.0)) best.add(fpr, last->risk->tpr(fpr));
  Figure figure("tradeoff", "Trade-off curve, " + label_text(*last), Mark::line,
                {"false-positive rate", "", Scale::log}, {"true-positive rate", "", Scale::log});
  figure.add(best.series());
  document.add(std::move(figure));
}

std::string distance_text(const char* what, const char* formula, double distance) {
  return fmt::format("{} ({} = {})", what, formula, format_number(distance));
}

/// "D and D' differ in ..." with the size of each difference.
std::string difference_text(const QuadraticProblem& problem, const Differences& differences) {
  const DataSet& d = problem.d;
  const DataSet& d_prime = problem.d_prime;
  std::vector<std::string> parts;
  if (differences.curvature) {
    parts.push_back(distance_text("the curvature", "|A - A'|",
                                  (d.loss.curvature - d_prime.loss.curvature).norm()));
  }
  if (differences.location) {
    const Minimum x = minimum(d.loss);
    const Minimum x_prime = minimum(d_prime.loss);
    parts.push_back(
        x.point && x_prime.point
            ? distance_text("the minimiser", "|x* - x*'|", (*x.point - *x_prime.point).norm())
            : distance_text("the pull", "|pull - pull'|",
                            (d.loss.pull - d_prime.loss.pull).norm()));
  }
  if (differences.noise) {
    parts.push_back(distance_text("the noise", "|Sigma - Sigma'|",
                                  (dense(d.noise) - dense(d_prime.noise)).norm()));
  }
  if (differences.start_mean) {
    parts.push_back(distance_text("the mean of the start", "|m0 - m0'|",
                                  (d.start.mean - d_prime.start.mean).norm()));
  }
  if (differences.start_covariance) {
    parts.push_back(
        distance_text("the covariance of the start", "|V0 - V0'|",
                      (dense(d.start.covariance) - dense(d_prime.start.covariance)).norm()));
  }
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    text += i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ";
    text += parts[i];
  }
  return fmt::format("{}D and D' differ in {}; they share everything else.",
                     problem.way_of_change.empty() ? "" : problem.way_of_change + ". ", text);
}

void state_problem(const QuadraticProblem& problem, const Differences& differences,
                   Document& document) {
  if (std::holds_alternative<Flow>(problem.output)) {
    document.state(StatementKind::info,
                   "Noisy gradient flow dX = -grad f(X) dt + Sigma^{1/2} dW of the loss "
                   "f(x) = 1/2 x^T A x - pull^T x, least at x*. Sigma is the diffusion covariance "
                   "(variance per unit of time), not its root.");
  } else {
    document.state(StatementKind::info,
                   "One release of the minimiser x* of f(x) = 1/2 x^T A x - pull^T x plus "
                   "N(0, S), with the same S for D and D'. S is a covariance, not its root.");
  }
  const bool same =
      differences.equal_covariances() && !differences.location && !differences.start_mean;
  if (same) {
    document.state(StatementKind::warning,
                   "D and D' describe the same problem: there is nothing to reveal.");
  } else {
    document.state(StatementKind::info, difference_text(problem, differences));
  }
  if (!problem.defaults.empty()) document.state(StatementKind::info, problem.defaults);
  document.state(StatementKind::assumption,
                 std::holds_alternative<Flow>(problem.output)
                     ? "the attacker knows both problems and sees all parameters once, at time t; "
                       "time is continuous, the steps of a discrete algorithm are not modelled."
                     : "the attacker knows both problems and sees the released parameters once.");
}

std::string labels(const std::vector<Observation>& observations, bool Observation::*flag) {
  std::string text;
  for (const Observation& observation : observations) {
    if (!(observation.*flag)) continue;
    text += (text.empty() ? "" : ", ") + label_text(observation);
  }
  return text;
}

/// What a reader of the tables must know: certainty, tolerances, the noise floor.
void state_findings(const QuadraticProblem& problem, const std::vector<Observation>& observations,
                    const Differences& differences, Document& document) {
  const std::string certain = labels(observations, &Observation::mutually_singular);
  if (!certain.empty()) {
    document.state(StatementKind::warning,
                   certain +
                       ": the two laws are mutually singular, so one look tells D from D' "
                       "with certainty (every KL is infinite, every delta is 1).");
  }
  const std::string tolerant = labels(observations, &Observation::used_rank_tolerance);
  if (!tolerant.empty()) {
    document.state(StatementKind::info,
                   tolerant +
                       ": covariances are singular; directions below 1e-12 of the largest "
                       "variance were counted as having none.");
  }
  for (const auto& [data, label] :
       {std::pair(&problem.d, "D"), std::pair(&problem.d_prime, "D'")}) {
    const Minimum x = minimum(data->loss);
    if (!x.point || x.unique) continue;
    document.state(
        StatementKind::info,
        fmt::format("A of {} is singular: x* is {}, and errors are distances from it.", label,
                    data->loss.given_point ? "one of many minimisers, the given one"
                                           : "the minimiser of least norm"));
  }
  if (!(differences.curvature || differences.noise)) return;
  const auto last = std::find_if(observations.rbegin(), observations.rend(),
                                 [](const Observation& o) { return o.floor.has_value(); });
  if (last == observations.rend()) return;
  document.state(
      StatementKind::warning,
      fmt::format(
          "noise floor: D and D' differ in the {}, which more noise does not hide. If Sigma "
          "(of both) grows without end, KL(D||D') at {} tends to {} nats and the advantage "
          "to {}. {}",
          differences.curvature ? "curvature" : "noise itself", label_text(*last),
          format_number(last->floor->kl(Direction::forward).value.value()),
          format_probability(last->floor->advantage().value),
          differences.curvature ? "Only bounded (clipped) gradients would help."
                                : "Use one Sigma for both."));
}

/// Eigenvalues of a dense A carry rounding times its condition number into everything; those of a
/// diagonal A are its entries.
void state_conditioning(const QuadraticProblem& problem, Document& document) {
  double worst = 0.0;
  for (const QuadraticLoss* loss : {&problem.d.loss, &problem.d_prime.loss}) {
    const double condition = condition_number(*loss);
    if (!loss->curvature.isDiagonal(0.0) && std::isfinite(condition)) {
      worst = std::max(worst, condition);
    }
  }
  if (worst <= 1e9) return;
  document.state(
      StatementKind::warning,
      fmt::format("A has condition number {:.2g}: about {:.0e} of each number is rounding. "
                  "Rescale the parameters so that A is better conditioned.",
                  worst, 2.2e-16 * worst));
}

}  // namespace

Document quadratic_document(const QuadraticProblem& problem, Observer& observer) {
  const Differences found = differences(problem);
  std::vector<Observation> observations;
  std::optional<FlowPair> flow;
  if (const auto* output = std::get_if<Flow>(&problem.output)) {
    flow.emplace(problem);
    for (std::size_t i = 0; i < output->times.size() && !observer.stop_requested(); ++i) {
      observer.progress("times", i, output->times.size());
      observations.push_back(flow->at(output->times[i]));
    }
  } else {
    observations.push_back(observe_release(problem));
  }

  Document document = new_document("quadratic", problem.title);
  document.add_provenance("problem", problem.source);
  state_problem(problem, found, document);
  document.add(problem_table(problem));
  document.add(risk_table(problem, observations));
  document.add(delta_table(problem, observations));
  document.add(epsilon_table(problem, observations));
  document.add(renyi_table(problem, observations));
  document.add(accuracy_table(problem, observations));
  if (flow && (found.curvature || found.noise)) document.add(floor_table(problem, observations));
  state_findings(problem, observations, found, document);
  if (flow) state_conditioning(problem, document);
  if (flow) add_time_figures(problem, *flow, observer, document);
  add_tradeoff(observations, document);
  if (observer.stop_requested()) {
    document.state(StatementKind::warning, "stopped on request: what is missing was not computed.");
  }
  document.state(StatementKind::summary,
                 "Risks of this one pair, not a differential-privacy guarantee, which would hold "
                 "for every pair.");
  return document;
}

}  // namespace sfumato::cli
