#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "sfumato/core/overloaded.hpp"
#include "sfumato/problem/closing.hpp"
#include "sfumato/quadratic/quadratic_answer.hpp"
#include "sfumato/quadratic/quadratic_tables.hpp"
#include "sfumato/report/number.hpp"
#include "sfumato/report/sentences.hpp"

namespace sfumato {
namespace {

const Maths kDPrime{"D'"};

Text distance_text(const char* what, std::string formula, double distance) {
  return say("{} ({} = {})", what, Maths{std::move(formula)}, ClaimedNumber{{distance}});
}

Text nothing_differs() {
  return say("D and {} are the same problem: there is nothing to reveal.", kDPrime);
}

/// "D and D' differ in ..." with the size of each difference.
Text difference_text(const QuadraticAnswer& answer) {
  const QuadraticQuestion& question = answer.question;
  const TrainingDifferences& differences = answer.differences;
  const QuadraticTraining& d = question.data.d;
  const QuadraticTraining& d_prime = question.data.d_prime;
  std::vector<Text> parts;
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
            : distance_text("the linear term", "|b - b'|",
                            (d.loss.pull - d_prime.loss.pull).stableNorm()));
  }
  if (differences.noise) {
    parts.push_back(distance_text("the noise", fmt::format("|{0} - {0}'|", question.noise_name()),
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
  Text text =
      question.way_of_change.empty() ? Text() : Text().add(Unmarked{question.way_of_change + ". "});
  return text += say("D and {} differ in {}; they share everything else.", kDPrime, listed(parts));
}

/// What is computed, and what must hold for it.
struct Setting {
  Text model;
  Text assumption;
};

const Maths kLoss{"f(x) = 1/2 x^T A x - b^T x"};
const Maths kMinimiser{"x*"};

Setting setting_of(const QuadraticQuestion& question) {
  return std::visit(
      Overloaded{
          [](const QuadraticFlow&) {
            return Setting{
                say("Noisy gradient flow {} of the loss {}, least at {}. {} is the diffusion "
                    "covariance (variance per unit of time), not its root.",
                    Maths{"dX = -grad f(X) dt + Sigma^{1/2} dW"}, kLoss, kMinimiser,
                    Maths{"Sigma"}),
                say("the attacker knows both problems and sees all parameters once, at time t; "
                    "time is continuous, the steps of a discrete algorithm are not modelled.")};
          },
          [](const QuadraticChain& chain) {
            return Setting{
                say("Noisy gradient descent {} {} {} on the loss {}, least at {}. S is the "
                    "covariance of one step (learning rate times {}, if {} is given), not its "
                    "root.",
                    Maths{"x <- x -"}, chain.learning_rate, Maths{"grad f(x) + N(0, S)"}, kLoss,
                    kMinimiser, Maths{"Sigma"}, Maths{"Sigma"}),
                say("the attacker knows both problems and sees all parameters once, after the last "
                    "step; the steps are modelled as they are run, each with the gradient of the "
                    "full batch (records are not sampled, gradients are not clipped).")};
          },
          [](const QuadraticRelease&) {
            return Setting{
                say("One release of the minimiser {} of {} plus {}, with the same S for D and {}. "
                    "S is a covariance, not its root.",
                    kMinimiser, kLoss, Maths{"N(0, S)"}, kDPrime),
                say("the attacker knows both problems and sees the released parameters once.")};
          }},
      question.output);
}

void state_problem(const QuadraticAnswer& answer, Document& document) {
  const Setting setting = setting_of(answer.question);
  document.state(StatementKind::info, setting.model);
  if (answer.differences.any()) {
    document.state(StatementKind::info, difference_text(answer));
  } else {
    document.state(StatementKind::warning, nothing_differs());
  }
  if (!answer.question.defaults.empty()) {
    document.state(StatementKind::info, answer.question.defaults);
  }
  document.state(StatementKind::assumption, setting.assumption);
}

Text looks_with(const QuadraticAnswer& answer, bool Observation::*flag) {
  Text text;
  for (const Observation& observation : answer.observations) {
    if (!(observation.*flag)) continue;
    if (!text.empty()) text.add(Words{", "});
    text += look_text(answer.question, observation);
  }
  return text;
}

/// What a reader must not miss: certainty and the noise floor.
void state_warnings(const QuadraticAnswer& answer, Document& document) {
  const QuadraticQuestion& question = answer.question;
  const TrainingDifferences& differences = answer.differences;
  const Text certain = looks_with(answer, &Observation::mutually_singular);
  if (!certain.empty()) {
    document.state(StatementKind::warning,
                   say("{}: the two distributions are mutually singular, so an attacker can tell D "
                       "from {} with certainty (every KL is infinite, every {} is 1).",
                       certain, kDPrime, Maths{"delta"}));
  }
  if (!(differences.curvature || differences.noise)) return;
  const auto& observations = answer.observations;
  const auto last = std::find_if(observations.rbegin(), observations.rend(),
                                 [](const Observation& o) { return o.floor.value.has_value(); });
  if (last == observations.rend()) return;
  const Risk& floor = *last->floor.value;
  document.state(
      StatementKind::warning,
      say("noise floor: D and {} differ in the {}, which more noise does not hide. As {} (of both) "
          "grows, {} at {} tends to {} nats and the advantage to {}. {}",
          kDPrime, differences.curvature ? "curvature" : "noise itself",
          Maths{question.noise_name()}, Maths{"KL(D||D')"}, look_text(question, *last),
          ClaimedNumber{{floor.kl(Direction::forward).value.value()}},
          ClaimedNumber{{floor.advantage().value}, NumberStyle::probability},
          differences.curvature ? "Only bounded (clipped) gradients would help."
                                : "Use the same noise for both."));
}

/// Tolerances and conventions behind the tables.
void state_findings(const QuadraticAnswer& answer, Document& document) {
  const QuadraticQuestion& question = answer.question;
  const Text tolerant = looks_with(answer, &Observation::used_rank_tolerance);
  if (!tolerant.empty()) {
    document.state(StatementKind::info,
                   say("{}: covariances are singular; directions below {} of the largest variance "
                       "are treated as noise-free.",
                       tolerant, 1e-12));
  }
  for (const auto& [training, label] :
       {std::pair(&question.data.d, "D"), std::pair(&question.data.d_prime, "D'")}) {
    const Minimum x = minimum(training->loss);
    if (!x.point || x.unique) continue;
    document.state(StatementKind::info,
                   say("A of {} is singular: {} is {}, and errors are distances from it.",
                       Maths{label}, kMinimiser,
                       training->loss.given_point ? "the given one of many minimisers"
                                                  : "the minimiser of least norm"));
  }
}

/// Finite numbers of steps have a distribution even so, and the reader should not have to guess.
void state_divergence(const QuadraticQuestion& question, Document& document) {
  const QuadraticChain* chain = question.chain();
  if (chain == nullptr) return;
  for (const auto& [training, label] :
       {std::pair(&question.data.d, "D"), std::pair(&question.data.d_prime, "D'")}) {
    const Eigen::VectorXd values = eigenvalues(training->loss);
    Eigen::Index worst;
    const double factor = (1.0 - chain->learning_rate * values.array()).abs().maxCoeff(&worst);
    if (factor <= 1.0) continue;
    const double value = values(worst);
    document.state(
        StatementKind::warning,
        say("the chain of {} diverges: each step multiplies the distance along eigenvalue {} of A "
            "by {} = {}. {}",
            Maths{label}, ClaimedNumber{{value}}, Maths{"|1 - learning rate x eigenvalue|"},
            ClaimedNumber{{factor}},
            value > 0.0 ? say("Use a learning rate below 2/{} = {}.", ClaimedNumber{{value}},
                              ClaimedNumber{{2.0 / value}})
                        : Text("No learning rate helps: the eigenvalue is negative.")));
  }
}

/// The look at which an attacker does best; null where nothing is known.
const Observation* worst_look(const QuadraticAnswer& answer) {
  const Observation* worst = nullptr;
  for (const Observation& observation : answer.observations) {
    if (!observation.risk) continue;
    if (worst == nullptr || observation.risk->advantage().value > worst->risk->advantage().value) {
      worst = &observation;
    }
  }
  return worst;
}

Abstract abstract_of(const QuadraticAnswer& answer) {
  Abstract abstract;
  abstract.asked =
      say("Can somebody who sees the trained parameters tell which of two data sets was used?");
  abstract.released = say(answer.question.is_release() ? "The minimiser plus noise."
                                                       : "The parameters of noisy training, once.");
  const Observation* worst = worst_look(answer);
  if (!answer.differences.any() || worst == nullptr) return abstract;
  abstract.answer =
      say("{}: the best attacker guesses correctly {} of the time. {}",
          look_text(answer.question, *worst), right_of(worst->risk->advantage()), coin_toss());
  const auto& accuracy = worst->accuracy.d;
  if (accuracy.excess_loss.value) {
    abstract.cost = say("The noise adds {} to the expected loss (excess loss on D).",
                        ClaimedNumber{{accuracy.excess_loss.value->value}});
  }
  abstract.advice =
      say("These are risks of this one pair: for a promise about every record use an accountant "
          "(sfumato account).");
  return abstract;
}

void state_answer(const QuadraticAnswer& answer, Document& document) {
  if (!answer.differences.any()) return document.state(StatementKind::warning, nothing_differs());
  const Observation* worst = worst_look(answer);
  if (worst == nullptr) return;
  const Claimed<double> advantage = worst->risk->advantage();
  document.state(
      StatementKind::info,
      say("{}: the best attacker tells D from {} with advantage {} (exact), guessing right {} of "
          "the time.",
          look_text(answer.question, *worst), kDPrime,
          ClaimedNumber{{advantage.value}, NumberStyle::probability}, right_of(advantage)));
}

void add_results(const QuadraticAnswer& answer, Document& document) {
  const RowFields<Observation> numbers = joined(risk_fields(answer), accuracy_fields());
  const RowField<Observation> look = look_field(answer.question);
  for (const Observation& observation : answer.observations) {
    add_results(document, numbers, observation, {{look.key, look.of(observation)}},
                Missing::left_out);
  }
}

Document new_quadratic_document(const QuadraticQuestion& question) {
  const std::string untitled =
      "Quadratic problem" + (question.source.empty() ? "" : " " + question.source);
  Document document = new_document("quadratic", question.title.empty() ? untitled : question.title);
  if (!question.source.empty()) document.add_provenance("problem", question.source);
  return document;
}

Document full_document(const QuadraticAnswer& answer) {
  const QuadraticQuestion& question = answer.question;
  Document document = new_quadratic_document(question);
  document.set_abstract(abstract_of(answer));
  state_problem(answer, document);
  for (Table& table : full_tables(answer)) document.add(std::move(table));
  state_findings(answer, document);
  state_warnings(answer, document);
  state_divergence(question, document);
  if (!question.is_release()) add_training_figures(answer, document);
  add_tradeoff(answer, document);
  return document;
}

Document brief_document(const QuadraticAnswer& answer) {
  Document document = new_quadratic_document(answer.question);
  state_answer(answer, document);
  document.add(brief_risk_table(answer));
  state_warnings(answer, document);
  state_divergence(answer.question, document);
  document.state(StatementKind::assumption, setting_of(answer.question).assumption);
  return document;
}

}  // namespace

Document document_of(const QuadraticAnswer& answer, Detail detail) {
  Document document = detail == Detail::full ? full_document(answer) : brief_document(answer);
  add_results(answer, document);
  close_document(document, detail, answer.stopped, not_a_guarantee("Risks of this one pair"));
  return document;
}

}  // namespace sfumato
