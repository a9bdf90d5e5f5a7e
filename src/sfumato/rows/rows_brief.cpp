#include "sfumato/rows/rows_brief.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sfumato/rows/checks_table.hpp"
#include "sfumato/rows/noise_tables.hpp"
#include "sfumato/rows/ranking.hpp"
#include "sfumato/rows/rows_columns.hpp"
#include "sfumato/rows/rows_tables.hpp"
#include "sfumato/rows/rows_words.hpp"
#include "sfumato/rows/table_words.hpp"

namespace sfumato {
namespace {

constexpr std::size_t kListed = 5;

std::string words_of(const RiskNumber& number) {
  const bool bound = number.claim == Claim::upper_bound;
  return fmt::format("{}{}", bound ? "at most " : "",
                     format_claimed({number.value, number.claim, ""}, NumberStyle::probability));
}

std::string name_of(const RowsAnswer& answer, const RowRisk& risk) {
  const auto at = static_cast<std::size_t>(risk.row);
  return answer.ids.empty() ? fmt::format("Row {}", risk.row + 1)
                            : fmt::format("Row {} ({})", risk.row + 1, answer.ids[at]);
}

void add_headline(Document& document, const RowsAnswer& answer) {
  const std::vector<const RowRisk*> first = riskiest(answer.risks, 1);
  if (first.empty()) return;
  const RiskNumber median = quantile(
      answer.risks, [](const RowRisk& risk) { return risk.advantage; }, 0.5);
  const bool proven = first.front()->advantage.claim == Claim::upper_bound;
  document.state(
      StatementKind::info,
      fmt::format(
          "{}{} {} the most exposed of {}: an attacker who sees the released weights and knows all "
          "other rows can tell whether it was used with advantage {} (0: random guess, 1: "
          "certainty). The median row has {}.",
          answer.search && answer.search->unlimited ? "At unlimited noise: " : "",
          name_of(answer, *first.front()), proven ? "may be" : "is",
          count_of(answer.risks.size(), "row"), words_of(first.front()->advantage),
          words_of(median)));
}

/// The columns that a reader compares: advantage, epsilon, delta.
std::vector<RiskColumn> brief_columns(const RowsAnswer& answer) {
  std::vector<RiskColumn> all = worse_columns(answer);
  std::vector<RiskColumn> chosen{all.front(), all.back()};
  for (std::size_t i = 1; i + 1 < all.size(); ++i) {
    if (all[i].key.starts_with("delta")) chosen.push_back(all[i]);
  }
  return chosen;
}

Table worst_rows(const RowsAnswer& answer) {
  const std::vector<RiskColumn> list = brief_columns(answer);
  const bool named = !answer.ids.empty();
  std::vector<Column> columns{{"row", "row", "", NumberStyle::general, Align::right}};
  if (named) columns.push_back({"id", answer.question.id});
  for (const RiskColumn& column : list) {
    columns.push_back({column.key, column.title, "", column.style});
  }
  const std::vector<const RowRisk*> rows = listed(answer, kListed);
  Table table("riskiest_rows", title_of(answer, rows.size()) + ", each in its worse direction",
              std::move(columns), named ? 2 : 1);
  const std::string method = words_of_method(answer);
  for (const RowRisk* risk : rows) {
    std::vector<Cell> cells{risk->row + 1};
    if (named) cells.emplace_back(answer.ids[static_cast<std::size_t>(risk->row)]);
    for (const RiskColumn& column : list) {
      cells.push_back(risk->status == RowStatus::no_model
                          ? Cell(Empty{"without this row there is no model, so its membership is "
                                       "revealed outright"})
                          : cell_of(column.of(*risk), method));
    }
    table.add_row(std::move(cells));
  }
  if (!computed(answer.risks).empty()) {
    std::vector<Cell> cells{"median"};
    if (named) cells.emplace_back("");
    for (const RiskColumn& column : list) {
      cells.push_back(cell_of(quantile(answer.risks, column.of, 0.5), method));
    }
    table.add_row(std::move(cells));
  }
  return table;
}

}  // namespace

void add_brief(Document& document, const RowsAnswer& answer) {
  const RowsQuestion& question = answer.question;
  const bool ridge = question.model == RowsModel::ridge;
  add_check_verdict(document, answer);
  add_search(document, answer);
  add_gate(document, answer);
  if (answer.sweep.empty()) {
    add_headline(document, answer);
    document.add(worst_rows(answer));
    add_cost_in_brief(document, answer);
  } else {
    add_sweep(document, answer);
  }
  add_warnings(document, answer);
  add_table_warnings(document, answer);
  add_columns_read(document, answer);
  document.state(
      StatementKind::info,
      fmt::format("{} for this table and {} regression {}; {}. Not a differential-privacy "
                  "guarantee, and as sensitive as the rows.",
                  ridge ? "Exact" : "Proven upper bounds", name(question.model),
                  short_words_of_release(answer),
                  question.adjacency == Adjacency::replace
                      ? "D' has another record in place of the row"
                      : "D' is the table without the row"));
  document.state(StatementKind::summary,
                 "More: --full, --report FILE.html (figures), --json; all rows: --out FILE.csv.");
}

namespace {

/// "75.1 %": how often the best attacker is right about the row.
std::string right(const RiskNumber& number) {
  return fmt::format("{}{} %", number.claim == Claim::upper_bound ? "at most " : "",
                     format_number(50.0 * (1.0 + number.value), rounding_of(number.claim), 3));
}

/// Ways to lower what single rows reveal. Leaving out those that are exposed is none: who is left out then depends
/// on the rows, and others are exposed in their place.
constexpr const char* kRemedies =
    "more noise, a stronger ridge or features shared by more rows (rarer categories merged) lower "
    "it for every row";

/// Rows without which there is no model: no noise hides them.
std::size_t revealed_rows(const RowsAnswer& answer) {
  return static_cast<std::size_t>(
      std::count_if(answer.risks.begin(), answer.risks.end(),
                    [](const RowRisk& risk) { return risk.status == RowStatus::no_model; }));
}

std::string ridge_for(std::size_t revealed) {
  return fmt::format(
      "{} revealed outright, whatever the noise: add a ridge, with which there is a "
      "model without {} too.",
      count_of(revealed, "row") + (revealed == 1 ? " is" : " are"),
      revealed == 1 ? "it" : "each of them");
}

/// Several noises: what the first and the last come to.
void compare_noises(const RowsAnswer& answer, Abstract& abstract) {
  const NoisePoint& first = answer.sweep.front();
  const NoisePoint& last = answer.sweep.back();
  abstract.answer = fmt::format(
      "For the most exposed row the best attacker guesses correctly {} of the time at noise {} and "
      "{} at noise {}. A coin toss is right 50 % of the time.",
      right(first.advantage), format_input(first.noise), right(last.advantage),
      format_input(last.noise));
  abstract.cost = cost_of_noises(answer);
  if (const std::size_t revealed = revealed_rows(answer); revealed > 0) {
    abstract.advice = ridge_for(revealed);
    return;
  }
  const auto useless = std::find_if(answer.sweep.begin(), answer.sweep.end(), predicts_nothing);
  abstract.advice = fmt::format(
      "No limit was asked for: --goal eps=E or advantage=A finds the least noise that keeps every "
      "row within it.{}",
      useless == answer.sweep.end()
          ? ""
          : fmt::format(" With noise {} the model predicts no better than a constant: with a "
                        "stronger ridge less noise does the same.",
                        format_input(useless->noise)));
}

/// What to do, by what was asked for: the goal, else the gate; without either no row is called safe or not.
std::string advice_of(const RowsAnswer& answer) {
  const RowsQuestion& question = answer.question;
  if (answer.search && !answer.search->reached) {
    return fmt::format(
        "{} is out of reach by noise alone: use a stronger ridge, or features "
        "shared by more rows (rarer categories merged).",
        words_of(*question.goal));
  }
  const std::size_t revealed = revealed_rows(answer);
  if (revealed > 0) return ridge_for(revealed);
  const auto unknown = static_cast<std::size_t>(
      std::count_if(answer.risks.begin(), answer.risks.end(), [](const RowRisk& risk) {
        return risk.status != RowStatus::ok || std::isnan(risk.advantage.value);
      }));
  if (unknown > 0) {
    return fmt::format("{} no number: settle that first (see the warnings).",
                       count_of(unknown, "row") + (unknown == 1 ? " has" : " have"));
  }
  if (question.max_advantage && !answer.above.empty()) {
    const std::size_t above = answer.above.size();
    const bool may = answer.verdict == Verdict::open;
    return fmt::format(
        "{} above the advantage of {} that was asked for: --goal advantage={} finds the least "
        "noise for it; {}.",
        count_of(above, "row") + (may          ? " may be"
                                  : above == 1 ? " is"
                                               : " are"),
        format_input(*question.max_advantage), format_input(*question.max_advantage), kRemedies);
  }
  if (answer.search) {
    return fmt::format("Every row is within {}, which was asked for.", words_of(*question.goal));
  }
  if (question.max_advantage) {
    return fmt::format("Every row is within the advantage of {} that was asked for.",
                       format_input(*question.max_advantage));
  }
  return fmt::format(
      "No limit was asked for, and none is universal. If that is too much, {}: "
      "--goal eps=E or advantage=A finds the least noise for a limit of yours.",
      kRemedies);
}

}  // namespace

Abstract abstract_of(const RowsAnswer& answer) {
  Abstract abstract;
  abstract.released = fmt::format("The weights of a {} regression of {} on {}, {}.",
                                  answer.question.model == RowsModel::ridge ? "ridge" : "logistic",
                                  answer.question.target, count_of(answer.risks.size(), "row"),
                                  short_words_of_release(answer));
  abstract.asked =
      "Can somebody who sees the released weights, and knows all other rows, tell whether a row "
      "was "
      "used?";
  const std::vector<const RowRisk*> first = riskiest(answer.risks, 1);
  if (first.empty()) return abstract;
  const RiskNumber worst = first.front()->advantage;
  const RiskNumber median = quantile(
      answer.risks, [](const RowRisk& risk) { return risk.advantage; }, 0.5);
  if (!answer.sweep.empty()) {
    compare_noises(answer, abstract);
    return abstract;
  }
  const bool proven = worst.claim == Claim::upper_bound;  // the risk itself may be smaller
  abstract.answer = fmt::format(
      "{} {} the most exposed: the best attacker guesses correctly {} of the time; for the median "
      "row, {}. A coin toss is right 50 % of the time.",
      name_of(answer, *first.front()), proven ? "may be" : "is", right(worst), right(median));
  if (const std::size_t revealed = revealed_rows(answer); revealed > 0) {
    abstract.answer =
        fmt::format("{} revealed outright: without such a row there is no model. {}",
                    count_of(revealed, "row") + (revealed == 1 ? " is" : " are"), abstract.answer);
  }
  abstract.cost = cost_sentence(answer);
  abstract.advice = advice_of(answer);
  return abstract;
}

}  // namespace sfumato
