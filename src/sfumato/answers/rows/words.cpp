#include "sfumato/answers/rows/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "sfumato/core/overloaded.hpp"
#include "sfumato/report/number.hpp"

namespace sfumato {
namespace {

std::string words_of_noise(const Covariance& noise) {
  return std::visit(
      Overloaded{[](const Isotropic& c) {
                   return fmt::format("isotropic, variance {}", format_input(c.variance));
                 },
                 [](const Diagonal&) { return std::string("diagonal"); },
                 [](const Factored&) { return std::string("diagonal plus low rank"); },
                 [](const Dense&) { return std::string("dense"); }},
      noise);
}

}  // namespace

std::string count_of(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string words_of_model(const RowsAnswer& answer) {
  const RowsQuestion& question = answer.question;
  const bool sum = question.loss == LossScale::sum;
  const bool scaled = question.ridge_scale == RidgeScale::times_rows;
  std::string ridge = fmt::format("ridge strength {}", format_input(question.ridge));
  if (scaled) {
    ridge += " times the number of rows N";
  } else {
    ridge += sum ? ", which does not grow with the number of rows N" : " (of the mean loss)";
  }
  return fmt::format(
      "{} regression on {} with {} ({}); {} of {}, {}.",
      question.model == RowsModel::ridge ? "Ridge" : "Ridge-logistic",
      count_of(answer.risks.size(), "row"), count_of(answer.parameters.size(), "parameter"),
      fmt::join(answer.parameters, ", "), sum ? "sum" : "mean (the sum divided by N, on D' too)",
      question.model == RowsModel::ridge ? "half the squared errors" : "the log losses", ridge);
}

std::string words_of_release(const Release& release) {
  return std::visit(
      Overloaded{
          [](const FlowRelease& flow) {
            const std::string noise = words_of_noise(flow.noise);
            const std::string time =
                std::isinf(flow.time)
                    ? std::string("in the long run (the stationary distribution)")
                    : fmt::format("at time {}, started at 0", format_input(flow.time));
            return fmt::format(
                "What is released: the weights of noisy gradient flow {}, seen once; diffusion "
                "covariance {}. Time is continuous: a discrete training run has a different "
                "distribution.",
                time, noise);
          },
          [](const ChainRelease& chain) {
            const std::string steps =
                std::isinf(chain.steps)
                    ? std::string("in the long run (the stationary distribution)")
                    : fmt::format("after {} step{}, started at 0", format_input(chain.steps),
                                  chain.steps == 1.0 ? "" : "s");
            return fmt::format(
                "What is released: the last weights of noisy gradient descent {}; learning rate "
                "{}, full batch. A step adds N(0, learning rate * Sigma), Sigma {}: noise is per "
                "unit of time, as in the flow.",
                steps, format_input(chain.learning_rate), words_of_noise(chain.noise));
          },
          [](const MinimiserRelease& r) {
            return fmt::format(
                "What is released: the exact minimiser plus one draw of N(0, S), S {}.",
                words_of_noise(r.noise));
          }},
      release);
}

std::string short_words_of_release(const Release& release) {
  return std::visit(
      Overloaded{[](const FlowRelease& flow) {
                   return fmt::format("noisy gradient flow {}, noise {}",
                                      std::isinf(flow.time)
                                          ? std::string("in the long run")
                                          : fmt::format("at time {}", format_input(flow.time)),
                                      words_of_noise(flow.noise));
                 },
                 [](const ChainRelease& chain) {
                   return fmt::format("noisy gradient descent, {}, noise {}",
                                      std::isinf(chain.steps)
                                          ? std::string("in the long run")
                                          : fmt::format("{} steps", format_input(chain.steps)),
                                      words_of_noise(chain.noise));
                 },
                 [](const MinimiserRelease& r) {
                   return fmt::format("the minimiser plus noise, {}", words_of_noise(r.noise));
                 }},
      release);
}

std::string words_of_neighbour(const RowsQuestion& question) {
  return question.adjacency == Adjacency::replace
             ? fmt::format("D' has the record of {} in place of the row.", question.replacement)
             : std::string("D' is the table without the row.");
}

std::string words_of_method(const RowsAnswer& answer) {
  if (answer.question.model == RowsModel::ridge) return "two normal distributions compared exactly";
  if (answer.question.release) return "proven, from the certified distance of the minimisers";
  return "proven, from the curvature of the loss and the bounded gradient of the row";
}

void add_warnings(Document& document, const RowsAnswer& answer) {
  const RowsQuestion& question = answer.question;
  std::size_t no_model = 0;
  std::size_t failed = 0;
  std::size_t missing = 0;
  const RowRisk* example = nullptr;
  for (const RowRisk& risk : answer.risks) {
    if (risk.status == RowStatus::no_model) ++no_model;
    if (risk.status == RowStatus::not_computed) ++missing;
    if (risk.status == RowStatus::failed) {
      ++failed;
      if (example == nullptr) example = &risk;
    }
  }
  if (no_model > 0) {
    document.state(
        StatementKind::warning,
        fmt::format("{} cannot be left out: without such a row {}, so there is no model to "
                    "compare with and its presence is plain. {}.",
                    count_of(no_model, "row"),
                    question.model == RowsModel::ridge
                        ? "some parameter is not determined"
                        : "no minimiser can be certified (a plane may separate the "
                          "classes, or features determine others)",
                    question.ridge > 0.0 ? "Use a stronger ridge" : "Add a ridge"));
  }
  if (failed > 0) {
    document.state(StatementKind::warning,
                   fmt::format("no trustworthy number for {}, such as row {}: {}",
                               count_of(failed, "row"), example->row + 1, example->message));
  }
  if (missing > 0) {
    document.state(StatementKind::warning,
                   fmt::format("stopped early: {} of {} rows were not computed, and the tables "
                               "above speak of the others only.",
                               missing, answer.risks.size()));
  }
  if (answer.dropped > 0) {
    document.state(StatementKind::warning,
                   fmt::format("{} with missing values left out; the risks are those of the "
                               "remaining table.",
                               count_of(answer.dropped, "row")));
  }
  if (question.standardise == "self") {
    document.state(StatementKind::warning,
                   "The columns were standardised by the table's own moments, which also depend on "
                   "every row: that dependence is outside the claim. Use public constants.");
  }
}

void add_caveats(Document& document, const RowsAnswer& answer) {
  const RowsQuestion& question = answer.question;
  if (!question.standardise.empty() && question.standardise != "self") {
    document.state(
        StatementKind::info,
        fmt::format(
            "Columns were standardised by the constants of {}, taken to be public{}.",
            question.standardise,
            answer.not_rescaled.empty()
                ? std::string()
                : fmt::format("; left as they are: {}", fmt::join(answer.not_rescaled, ", "))));
  }
  const bool trained =
      std::visit(Overloaded{[](const FlowRelease& flow) { return flow.time > 0.0; },
                            [](const ChainRelease& chain) { return chain.steps > 1.0; },
                            [](const MinimiserRelease&) { return false; }},
                 answer.release);
  if (trained && question.model == RowsModel::ridge) {
    document.state(StatementKind::info,
                   "D and D' have different curvatures, so a part of each risk stays however large "
                   "the noise is (Spec §5): more noise hides where the minimiser moved, not how "
                   "sharp the loss became.");
  }
  if (question.model == RowsModel::logistic) {
    document.state(
        StatementKind::assumption,
        "Numbers marked <= are proven upper bounds: the true risk is at most this, often "
        "much less, and a difference of two bounds says little about two rows. They hold "
        "for full-batch gradients that are not clipped and for exactly this noise.");
  }
  document.state(StatementKind::assumption,
                 "These are the risks of these rows under this table, to an attacker who knows all "
                 "other rows. They are not a differential-privacy guarantee, which would speak of "
                 "all tables. The list itself is computed from the rows and is sensitive: do not "
                 "publish it.");
}

}  // namespace sfumato
