#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sfumato/data/table.hpp"
#include "sfumato/report/histogram.hpp"
#include "sfumato/report/sentences.hpp"
#include "sfumato/rows/noise_tables.hpp"
#include "sfumato/rows/row_views.hpp"
#include "sfumato/rows/rows_answer.hpp"
#include "sfumato/rows/rows_tables.hpp"
#include "sfumato/rows/rows_words.hpp"

namespace sfumato {
namespace {

Text words_of(const RiskNumber& number) {
  return say(number.claim == Claim::upper_bound ? "at most {}" : "{}",
             ClaimedNumber{{number.value, number.claim, ""}, NumberStyle::probability});
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
      say("{}{} {} the most exposed of {}: an attacker who sees the released weights and knows all "
          "other rows can tell whether it was used with advantage {} (0: random guess, 1: "
          "certainty). The median row has {}.",
          answer.search && answer.search->unlimited ? "At unlimited noise: " : "",
          name_of(answer, *first.front()), proven ? "may be" : "is",
          count_of(answer.risks.size(), "row"), words_of(first.front()->advantage),
          words_of(median)));
}

/// Who is most exposed, the riskiest rows by their worse direction, what that rests on and how to see more.
void add_brief(Document& document, const RowsAnswer& answer) {
  const RowsQuestion& question = answer.question;
  const bool ridge = question.model == RowsModel::ridge;
  add_check_verdict(document, answer);
  add_search(document, answer);
  add_gate(document, answer);
  if (answer.sweep.empty()) {
    add_headline(document, answer);
    document.add(riskiest_rows(answer, Detail::brief));
    add_cost_in_brief(document, answer);
  } else {
    add_sweep(document, answer);
  }
  add_warnings(document, answer);
  add_table_warnings(document, answer);
  add_columns_read(document, answer);
  document.state(
      StatementKind::info,
      say("{} for this table and {} regression {}; {} {}. Not a differential-privacy guarantee, "
          "and as sensitive as the rows.",
          ridge ? "Exact" : "Proven upper bounds", std::string(name(question.model)),
          short_words_of_release(answer), Maths{"D'"},
          question.adjacency == Adjacency::replace ? "has another record in place of the row"
                                                   : "is the table without the row"));
  document.state(StatementKind::summary, say("More: {}, {} (figures), {}; all rows: {}.", More::all,
                                             More::page, More::json, More::table));
}

/// "at most 75.1 %": how often the best attacker is right about the row.
Text right(const RiskNumber& number) { return right_of({number.value, number.claim, ""}); }

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

Text ridge_for(std::size_t revealed) {
  return say(
      "{} revealed outright, whatever the noise: add a ridge, with which there is a "
      "model without {} too.",
      count_of(revealed, "row") + (revealed == 1 ? " is" : " are"),
      revealed == 1 ? "it" : "each of them");
}

/// Several noises: what the first and the last come to.
void compare_noises(const RowsAnswer& answer, Abstract& abstract) {
  const NoisePoint& first = answer.sweep.front();
  const NoisePoint& last = answer.sweep.back();
  abstract.answer =
      say("For the most exposed row the best attacker guesses correctly {} of the time at noise {} "
          "and {} at noise {}. {}",
          right(first.advantage), first.noise, right(last.advantage), last.noise, coin_toss());
  abstract.cost = cost_of_noises(answer);
  if (const std::size_t revealed = revealed_rows(answer); revealed > 0) {
    abstract.advice = ridge_for(revealed);
    return;
  }
  const auto useless = std::find_if(answer.sweep.begin(), answer.sweep.end(), predicts_nothing);
  abstract.advice = say(
      "No limit was asked for: {} eps=E or advantage=A finds the least noise that keeps every row "
      "within it.{}",
      KeyName{"goal"},
      useless == answer.sweep.end()
          ? Text()
          : say(" With noise {} the model predicts no better than a constant: with a stronger "
                "ridge less noise does the same.",
                useless->noise));
}

/// What to do, by what was asked for: the goal, else the gate; without either no row is called safe or not.
Text advice_of(const RowsAnswer& answer) {
  const RowsQuestion& question = answer.question;
  if (answer.search && !answer.search->reached) {
    return say(
        "{} is out of reach by noise alone: use a stronger ridge, or features shared by more rows "
        "(rarer categories merged).",
        Maths{words_of(*question.goal)});
  }
  const std::size_t revealed = revealed_rows(answer);
  if (revealed > 0) return ridge_for(revealed);
  const auto unknown = static_cast<std::size_t>(
      std::count_if(answer.risks.begin(), answer.risks.end(), [](const RowRisk& risk) {
        return risk.status != RowStatus::ok || std::isnan(risk.advantage.value);
      }));
  if (unknown > 0) {
    return say("{} {} no number: settle that first (see the warnings).", count_of(unknown, "row"),
               unknown == 1 ? "has" : "have");
  }
  if (question.max_advantage && !answer.above.empty()) {
    const std::size_t above = answer.above.size();
    const bool may = answer.verdict == Verdict::open;
    return say(
        "{} {} above the advantage of {} that was asked for: {} advantage={} finds the least noise "
        "for it; {}.",
        count_of(above, "row"),
        may          ? "may be"
        : above == 1 ? "is"
                     : "are",
        *question.max_advantage, KeyName{"goal"}, *question.max_advantage, kRemedies);
  }
  if (answer.search) {
    return say("Every row is within {}, which was asked for.", Maths{words_of(*question.goal)});
  }
  if (question.max_advantage) {
    return say("Every row is within the advantage of {} that was asked for.",
               *question.max_advantage);
  }
  return say(
      "No limit was asked for, and none is universal. If that is too much, {}: {} eps=E or "
      "advantage=A finds the least noise for a limit of yours.",
      kRemedies, KeyName{"goal"});
}

/// The top of the page: what is released, who is most exposed, what the noise costs, what to do.
Abstract abstract_of(const RowsAnswer& answer) {
  Abstract abstract;
  abstract.released =
      say("The weights of a {} regression of {} on {}, {}.",
          answer.question.model == RowsModel::ridge ? "ridge" : "logistic", answer.question.target,
          count_of(answer.risks.size(), "row"), short_words_of_release(answer));
  abstract.asked = say(
      "Can somebody who sees the released weights, and knows all other rows, tell whether a row "
      "was used?");
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
  abstract.answer = say(
      "{} {} the most exposed: the best attacker guesses correctly {} of the time; for the median "
      "row, {}. {}",
      name_of(answer, *first.front()), proven ? "may be" : "is", right(worst), right(median),
      coin_toss());
  if (const std::size_t revealed = revealed_rows(answer); revealed > 0) {
    abstract.answer =
        say("{} revealed outright: without such a row there is no model. {}",
            count_of(revealed, "row") + (revealed == 1 ? " is" : " are"), abstract.answer);
  }
  abstract.cost = cost_sentence(answer, "On these rows");
  abstract.advice = advice_of(answer);
  return abstract;
}

void add_histogram(Document& document, const RowsAnswer& answer) {
  std::vector<double> advantages;
  for (const RowRisk* risk : computed(answer.risks)) advantages.push_back(risk->advantage.value);
  Figure figure =
      histogram("advantage", "Membership advantage over the rows" + at_noise(answer),
                {answer.question.model == RowsModel::ridge ? "advantage of the best attack"
                                                           : "bound on the advantage of any attack",
                 "", Scale::linear},
                advantages);
  figure.set_caption("How many rows have which advantage; 0 is a coin toss, 1 is certainty.");
  document.add(std::move(figure));
}

void add_everything(Document& document, const RowsAnswer& answer) {
  document.set_abstract(abstract_of(answer));
  document.state(StatementKind::info, words_of_model(answer));
  add_columns_read(document, answer);
  document.state(StatementKind::info,
                 answer.sweep.empty()
                     ? words_of_release(answer.release)
                     : say("The weights are {}. Single rows are shown{}, the largest.",
                           short_words_of_release(answer), at_noise(answer)));
  document.state(StatementKind::info, words_of_neighbour(answer.question));
  add_search(document, answer);
  add_gate(document, answer);
  if (!answer.sweep.empty()) {
    add_sweep(document, answer);
    add_sweep_figure(document, answer);
  }
  document.add(riskiest_rows(answer, Detail::full));
  if (answer.sweep.empty()) add_cost(document, answer);
  if (!computed(answer.risks).empty()) {
    document.add(quantiles(answer));
    add_histogram(document, answer);
    document.add(ranked(answer));
  }
  for (const std::string& note : answer.notes) document.state(StatementKind::info, note);
  add_checks(document, answer);
  add_check_verdict(document, answer);
  add_warnings(document, answer);
  add_table_warnings(document, answer);
  add_caveats(document, answer);
}

}  // namespace

Document document_of(const RowsAnswer& answer, Detail detail) {
  Document document =
      new_document("rows", "Risk of every row of " + table_source(answer.question.table));
  if (detail == Detail::brief) {
    add_brief(document, answer);
  } else {
    add_everything(document, answer);
  }
  add_results(document, answer);
  add_cost_results(document, answer);
  return document;
}

}  // namespace sfumato
