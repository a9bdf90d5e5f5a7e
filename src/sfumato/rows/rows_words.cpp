#include "sfumato/rows/rows_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <vector>

#include "sfumato/core/overloaded.hpp"
#include "sfumato/report/number.hpp"

namespace sfumato {
namespace {

const Maths kDPrime{"D'"};

Text words_of_noise(const Covariance& noise) {
  return std::visit(
      Overloaded{[](const Isotropic& c) { return say("isotropic, variance {}", c.variance); },
                 [](const Diagonal&) { return say("diagonal"); },
                 [](const Factored&) { return say("diagonal plus low rank"); },
                 [](const Dense&) { return say("dense"); }},
      noise);
}

/// All of a few names, the first and the last of many.
std::string words_of_parameters(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 24, kFirst = 12;
  if (names.size() <= kMost) return fmt::format("{}", fmt::join(names, ", "));
  const std::vector<std::string> first(names.begin(), names.begin() + kFirst);
  return fmt::format("{}, ..., {}", fmt::join(first, ", "), names.back());
}

/// Columns that differ by more have other units, and noise and ridge act on them unequally.
constexpr double kSimilarSpread = 10.0;

std::string words_of_fill(const ColumnCoding& coding) {
  const std::string count = count_of(coding.filled, "value");
  switch (coding.kind) {
    case ColumnKind::number:
      return fmt::format("{} ({}, {})", coding.column, count, format_input(coding.fill));
    case ColumnKind::boolean:
      return fmt::format("{} ({}, {})", coding.column, count,
                         coding.fill == 1.0 ? "true" : "false");
    case ColumnKind::category:
      return fmt::format("{} ({}, {})", coding.column, count,
                         coding.levels[static_cast<std::size_t>(coding.fill)]);
  }
  return {};
}

}  // namespace

std::string count_of(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

Text words_of_model(const RowsAnswer& answer) {
  const RowsQuestion& question = answer.question;
  const bool sum = question.loss == LossScale::sum;
  const bool ridge = question.model == RowsModel::ridge;
  const char* scale = question.ridge_scale == RidgeScale::times_rows ? " times the number of rows N"
                      : sum ? ", independent of the number of rows N"
                            : " (of the mean loss)";
  return say("{} regression on {} with {} ({}); {} of {}, ridge penalty {}{}.",
             ridge ? "Ridge" : "Ridge-logistic", count_of(answer.risks.size(), "row"),
             count_of(answer.parameters.size(), "parameter"),
             words_of_parameters(answer.parameters),
             sum ? say("sum") : say("mean (the sum divided by N, also on {})", kDPrime),
             ridge ? "half the squared errors" : "the log losses", question.ridge, scale);
}

Text words_of_release(const Release& release) {
  return std::visit(
      Overloaded{
          [](const FlowRelease& flow) {
            return say(
                "Released: the weights of noisy gradient flow {}, once; diffusion covariance {}. "
                "Time is continuous: discrete training has a different distribution.",
                std::isinf(flow.time) ? say("in its stationary distribution")
                                      : say("at time {}, starting from 0", flow.time),
                words_of_noise(flow.noise));
          },
          [](const ChainRelease& chain) {
            return say(
                "Released: the last weights of noisy gradient descent {}; learning rate {}, full "
                "batch. Each step adds {}, {} {}: noise is per unit of time, as in the flow.",
                std::isinf(chain.steps) ? say("in its stationary distribution")
                                        : say("after {} step{}, starting from 0", chain.steps,
                                              chain.steps == 1.0 ? "" : "s"),
                chain.learning_rate, Maths{"N(0, learning rate * Sigma)"}, Maths{"Sigma"},
                words_of_noise(chain.noise));
          },
          [](const MinimiserRelease& r) {
            return say("Released: the exact minimiser plus one draw of {}, S {}.", Maths{"N(0, S)"},
                       words_of_noise(r.noise));
          }},
      release);
}

std::string at_noise(const RowsAnswer& answer) {
  return answer.sweep.empty() ? "" : " at noise " + format_input(answer.sweep.back().noise);
}

Text short_words_of_release(const RowsAnswer& answer) {
  const auto noise = [&](const Covariance& of) {
    if (!answer.sweep.empty()) return say("isotropic, of each variance listed");
    return answer.search && answer.search->unlimited ? say("unlimited") : words_of_noise(of);
  };
  return std::visit(Overloaded{[&](const FlowRelease& flow) {
                                 return say("trained by noisy gradient flow {}, noise {}",
                                            std::isinf(flow.time) ? say("run to stationarity")
                                                                  : say("to time {}", flow.time),
                                            noise(flow.noise));
                               },
                               [&](const ChainRelease& chain) {
                                 return say("trained by noisy gradient descent, {}, noise {}",
                                            std::isinf(chain.steps) ? say("run to stationarity")
                                                                    : say("{} steps", chain.steps),
                                            noise(chain.noise));
                               },
                               [&](const MinimiserRelease& r) {
                                 return say("released as its minimiser plus normal noise, {}",
                                            noise(r.noise));
                               }},
                    answer.release);
}

Text words_of_neighbour(const RowsQuestion& question) {
  return question.adjacency == Adjacency::replace
             ? say("{} has the record of {} in place of the row.", kDPrime, question.replacement)
             : say("{} is the table without the row.", kDPrime);
}

std::string words_of_method(const RowsAnswer& answer) {
  if (answer.question.model == RowsModel::ridge) {
    return "exact comparison of two Gaussian distributions";
  }
  if (!training_of(answer.question)) return "proven, from the certified distance of the minimisers";
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
        say("{} cannot be removed: without such a row {}, so there is no model to compare "
            "with and its membership is revealed outright. {}.",
            count_of(no_model, "row"),
            question.model == RowsModel::ridge
                ? "some parameter is not determined"
                : "no minimiser can be certified (a plane may separate the "
                  "classes, or features determine others)",
            question.ridge > 0.0 ? "Use a stronger ridge" : "Add a ridge"));
  }
  if (failed > 0) {
    document.state(StatementKind::warning,
                   say("no trustworthy number for {}, such as row {}: {}", count_of(failed, "row"),
                       fmt::to_string(example->row + 1), Text(example->message)));
  }
  if (missing > 0) {
    document.state(StatementKind::warning,
                   say("stopped early: {} of {} were not computed; the tables cover the others "
                       "only.",
                       fmt::to_string(missing), count_of(answer.risks.size(), "row")));
  }
  if (answer.dropped > 0) {
    document.state(StatementKind::warning,
                   say("{} with missing values excluded; the risks are those of the remaining "
                       "table.",
                       count_of(answer.dropped, "row")));
  }
  if (question.standardise == "self") {
    document.state(StatementKind::warning,
                   say("The columns were standardised by the table's own means and scales, which "
                       "depend on every row: the risks do not cover that dependence. Use public "
                       "constants."));
  }
}

void add_caveats(Document& document, const RowsAnswer& answer) {
  const RowsQuestion& question = answer.question;
  if (!question.standardise.empty() && question.standardise != "self") {
    document.state(
        StatementKind::info,
        say("Columns were standardised by the constants of {}, assumed to be public{}.",
            question.standardise,
            answer.not_rescaled.empty()
                ? std::string()
                : fmt::format("; not rescaled: {}", fmt::join(answer.not_rescaled, ", "))));
  }
  const bool trained =
      std::visit(Overloaded{[](const FlowRelease& flow) { return flow.time > 0.0; },
                            [](const ChainRelease& chain) { return chain.steps > 1.0; },
                            [](const MinimiserRelease&) { return false; }},
                 answer.release);
  if (trained && question.model == RowsModel::ridge) {
    document.state(StatementKind::info,
                   say("D and {} have different curvatures, so part of each risk remains however "
                       "large the noise (Spec §5): more noise hides the shift of the minimiser, "
                       "not the change of curvature.",
                       kDPrime));
  }
  if (question.model == RowsModel::logistic) {
    document.state(
        StatementKind::assumption,
        say("Numbers marked {} are proven upper bounds: the true risk is at most this and often "
            "much less, so comparing the bounds of two rows says little about their risks. They "
            "hold for full-batch, unclipped gradients and exactly this noise.",
            Maths{"<="}));
  }
  document.state(StatementKind::assumption,
                 say("These are the risks of the rows of this table, against an attacker who knows "
                     "all other rows. They are not a differential-privacy guarantee, which would "
                     "hold for all tables. The list is computed from the rows and is itself "
                     "sensitive: do not publish it."));
}

void add_columns_read(Document& document, const RowsAnswer& answer) {
  std::vector<std::string> categories, booleans, constant;
  for (const ColumnCoding& coding : answer.codings) {
    if (coding.kind == ColumnKind::boolean) booleans.push_back(coding.column);
    if (coding.kind != ColumnKind::category) continue;
    if (coding.width() == 0) {
      constant.push_back(coding.column);
    } else {
      categories.push_back(fmt::format("{} ({} levels, reference {})", coding.column,
                                       coding.levels.size(), coding.levels.front()));
    }
  }
  std::vector<std::string> parts;
  if (!categories.empty()) {
    parts.push_back(fmt::format("Categories, an indicator for each other level: {}",
                                fmt::join(categories, ", ")));
  }
  if (!booleans.empty()) {
    parts.push_back(fmt::format("Booleans, true or yes being 1: {}", fmt::join(booleans, ", ")));
  }
  if (!constant.empty()) {
    parts.push_back(fmt::format("One value in every row, left out: {}", fmt::join(constant, ", ")));
  }
  if (parts.empty()) return;
  document.state(StatementKind::info, say("{}.", fmt::format("{}", fmt::join(parts, ". "))));
}

void add_table_warnings(Document& document, const RowsAnswer& answer) {
  std::vector<std::string> filled;
  for (const ColumnCoding& coding : answer.codings) {
    if (coding.filled > 0) filled.push_back(words_of_fill(coding));
  }
  if (!filled.empty()) {
    document.state(
        StatementKind::warning,
        say("Missing values were imputed: {}. Medians and most frequent values depend on every "
            "row, which the risks do not account for.",
            fmt::format("{}", fmt::join(filled, ", "))));
  }
  if (answer.spread && answer.spread->ratio > kSimilarSpread) {
    document.state(
        StatementKind::warning,
        say("{} varies {} times as much as {}: ridge and noise act on weights, so risk and "
            "accuracy depend on these units. See {}.",
            answer.spread->widest, std::round(answer.spread->ratio), answer.spread->narrowest,
            KeyName{"standardise"}));
  }
}

}  // namespace sfumato
