#include "sfumato/answers/quadratic/document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "sfumato/answers/quadratic/chain_bounds.hpp"
#include "sfumato/answers/quadratic/figures.hpp"
#include "sfumato/answers/quadratic/tables.hpp"
#include "sfumato/answers/quadratic/training_pair.hpp"
#include "sfumato/report/number.hpp"

namespace sfumato {
namespace {

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
            ? distance_text("the minimiser", "|x* - x*'|", (*x.point - *x_prime.point).stableNorm())
            : distance_text("the pull", "|pull - pull'|",
                            (d.loss.pull - d_prime.loss.pull).stableNorm()));
  }
  if (differences.noise) {
    const std::string formula = fmt::format("|{0} - {0}'|", problem.noise_name());
    parts.push_back(distance_text("the noise", formula.c_str(),
                                  (dense(d.noise) - dense(d_prime.noise)).norm()));
  }
  if (differences.start_mean) {
    parts.push_back(distance_text("the mean of the start", "|m0 - m0'|",
                                  (d.start.mean - d_prime.start.mean).stableNorm()));
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

/// What is computed, and what must hold for it.
struct Setting {
  std::string model;
  std::string assumption;
};

Setting setting_of(const Output& output) {
  return std::visit(
      Overloaded{
          [](const Flow&) {
            return Setting{
                "Noisy gradient flow dX = -grad f(X) dt + Sigma^{1/2} dW of the loss "
                "f(x) = 1/2 x^T A x - pull^T x, least at x*. Sigma is the diffusion covariance "
                "(variance per unit of time), not its root.",
                "the attacker knows both problems and sees all parameters once, at time t; "
                "time is continuous, the steps of a discrete algorithm are not modelled."};
          },
          [](const Chain& chain) {
            return Setting{
                fmt::format(
                    "Noisy gradient descent x <- x - {} grad f(x) + N(0, S) on the loss "
                    "f(x) = 1/2 x^T A x - pull^T x, least at x*. S is the covariance of one step "
                    "(learning rate times Sigma, if Sigma is given), not its root.",
                    format_input(chain.learning_rate)),
                "the attacker knows both problems and sees all parameters once, after the last "
                "step; the steps are modelled as they are run, each with the gradient of the full "
                "batch (records are not sampled, gradients are not clipped)."};
          },
          [](const Release&) {
            return Setting{
                "One release of the minimiser x* of f(x) = 1/2 x^T A x - pull^T x plus "
                "N(0, S), with the same S for D and D'. S is a covariance, not its root.",
                "the attacker knows both problems and sees the released parameters once."};
          }},
      output);
}

void state_problem(const QuadraticProblem& problem, const Differences& differences,
                   Document& document) {
  const Setting setting = setting_of(problem.output);
  document.state(StatementKind::info, setting.model);
  const bool same =
      differences.equal_covariances() && !differences.location && !differences.start_mean;
  if (same) {
    document.state(StatementKind::warning,
                   "D and D' describe the same problem: there is nothing to reveal.");
  } else {
    document.state(StatementKind::info, difference_text(problem, differences));
  }
  if (!problem.defaults.empty()) document.state(StatementKind::info, problem.defaults);
  document.state(StatementKind::assumption, setting.assumption);
}

std::string labels(const std::vector<Observation>& observations, bool Observation::*flag) {
  std::string text;
  for (const Observation& observation : observations) {
    if (!(observation.*flag)) continue;
    text += (text.empty() ? "" : ", ") + observation.name;
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
      fmt::format("noise floor: D and D' differ in the {}, which more noise does not hide. If {} "
                  "(of both) grows without end, KL(D||D') at {} tends to {} nats and the advantage "
                  "to {}. {}",
                  differences.curvature ? "curvature" : "noise itself", problem.noise_name(),
                  last->name, format_number(last->floor->kl(Direction::forward).value.value()),
                  format_probability(last->floor->advantage().value),
                  differences.curvature ? "Only bounded (clipped) gradients would help."
                                        : "Use one noise for both."));
}

/// Finite numbers of steps have a law even so, and the reader should not have to guess.
void state_divergence(const QuadraticProblem& problem, Document& document) {
  const Chain* chain = problem.chain();
  if (chain == nullptr) return;
  for (const auto& [data, label] :
       {std::pair(&problem.d, "D"), std::pair(&problem.d_prime, "D'")}) {
    const Eigen::VectorXd values = eigenvalues(data->loss);
    Eigen::Index worst;
    const double factor = (1.0 - chain->learning_rate * values.array()).abs().maxCoeff(&worst);
    if (factor <= 1.0) continue;
    const double value = values(worst);
    document.state(
        StatementKind::warning,
        fmt::format("the chain of {} diverges: each step multiplies the distance along eigenvalue "
                    "{} of A by |1 - learning rate x eigenvalue| = {}. {}",
                    label, format_number(value), format_number(factor),
                    value > 0.0 ? fmt::format("Use a learning rate below 2/{} = {}.",
                                              format_number(value), format_number(2.0 / value))
                                : "No learning rate helps: the eigenvalue is negative."));
  }
}

}  // namespace

Document quadratic_document(const QuadraticProblem& problem, Observer& observer) {
  const Differences found = differences(problem);
  std::vector<Observation> observations;
  std::optional<TrainingPair> training;
  if (problem.is_release()) {
    observations.push_back(observe_release(problem));
  } else {
    training.emplace(problem);
    const std::vector<double>& looks = training->looks();
    for (std::size_t i = 0; i < looks.size() && !observer.stop_requested(); ++i) {
      observer.progress(problem.chain() ? "steps" : "times", i, looks.size());
      observations.push_back(training->at(looks[i]));
    }
  }

  Document document = new_document("quadratic", problem.title);
  document.add_provenance("problem", problem.source);
  state_problem(problem, found, document);
  document.add(problem_table(problem));
  document.add(risk_table(problem, observations));
  document.add(delta_table(problem, observations));
  document.add(epsilon_table(problem, observations));
  document.add(renyi_table(problem, observations));
  if (problem.chain()) document.add(chain_bounds_table(problem, observations));
  document.add(accuracy_table(problem, observations));
  if (training && (found.curvature || found.noise)) {
    document.add(floor_table(problem, observations));
  }
  state_findings(problem, observations, found, document);
  state_divergence(problem, document);
  if (training) {
    add_training_figures(problem, *training, observer, document);
  }
  add_tradeoff(observations, document);
  if (observer.stop_requested()) {
    document.state(StatementKind::warning, "stopped on request: what is missing was not computed.");
  }
  document.state(StatementKind::summary,
                 "Risks of this one pair, not a differential-privacy guarantee, which would hold "
                 "for every pair.");
  return document;
}

}  // namespace sfumato
