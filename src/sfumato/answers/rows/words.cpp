#include "sfumato/answers/rows/words.hpp"

#include <fmt/format.h>

#include <cmath>

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

std::string words_of_model(const RowsQuestion& question, const RegressionInput& input) {
  const bool sum = question.ridge.loss == LossScale::sum;
  const bool scaled = question.ridge.ridge_scale == RidgeScale::times_rows;
  std::string ridge = fmt::format("ridge strength {}", format_input(question.ridge.ridge));
  if (scaled) {
    ridge += " times the number of rows N";
  } else {
    ridge += sum ? ", which does not grow with the number of rows N" : " (of the mean loss)";
  }
  return fmt::format(
      "{} regression on {} with {} ({}); {} of {}, {}.",
      question.model == RowsModel::ridge ? "Ridge" : "Ridge-logistic",
      count_of(static_cast<std::size_t>(input.features.rows()), "row"),
      count_of(input.parameters.size(), "parameter"), fmt::join(input.parameters, ", "),
      sum ? "sum" : "mean (D' is divided by its own size)",
      question.model == RowsModel::ridge ? "half the squared errors" : "the log losses", ridge);
}

std::string words_of_release(const Release& release) {
  return std::visit(
      Overloaded{
          [](const FlowRelease& flow) {
            const std::string noise = words_of_noise(flow.noise);
            const std::string time =
                std::isinf(flow.time)
                    ? std::string("in the long run (the stationary law)")
                    : fmt::format("at time {}, started at 0", format_input(flow.time));
            return fmt::format(
                "What is released: the weights of noisy gradient flow {}, seen once; diffusion "
                "covariance {}. Time is continuous: a discrete training run follows another law.",
                time, noise);
          },
          [](const ChainRelease& chain) {
            const std::string steps =
                std::isinf(chain.steps)
                    ? std::string("in the long run (the stationary law)")
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

std::string words_of_method(const RowsQuestion& question) {
  if (question.model == RowsModel::ridge) return "two normal laws compared exactly";
  if (std::holds_alternative<MinimiserRelease>(question.risk.release)) {
    return "proven, from the certified distance of the minimisers";
  }
  return "proven, from the curvature of the loss and the bounded gradient of the row";
}

void add_caveats(Document& document, const RowsQuestion& question, const RegressionInput& input) {
  if (input.dropped > 0) {
    document.state(StatementKind::warning,
                   fmt::format("{} with missing values left out; the risks are those of the "
                               "remaining table.",
                               count_of(input.dropped, "row")));
  }
  if (question.standardised_by_self) {
    document.state(StatementKind::warning,
                   "The columns were standardised by the table's own moments, which also depend on "
                   "every row: that dependence is outside the claim. Use public constants.");
  } else if (!question.standardised_by.empty()) {
    document.state(
        StatementKind::info,
        fmt::format("Columns were standardised by the constants of {}, taken to be public{}.",
                    question.standardised_by,
                    input.not_rescaled.empty() ? std::string()
                                               : fmt::format("; left as they are: {}",
                                                             fmt::join(input.not_rescaled, ", "))));
  }
  const bool trained =
      std::visit(Overloaded{[](const FlowRelease& flow) { return flow.time > 0.0; },
                            [](const ChainRelease& chain) { return chain.steps > 1.0; },
                            [](const MinimiserRelease&) { return false; }},
                 question.risk.release);
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
