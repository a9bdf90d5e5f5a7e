#include "lab/audit/evidence_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "lab/audit/claims.hpp"
#include "sfumato/audit/proportion_intervals.hpp"
#include "sfumato/audit/roc.hpp"
#include "sfumato/audit/score_smells.hpp"
#include "sfumato/report/confidence.hpp"
#include "sfumato/report/number.hpp"

namespace sfumato::lab {
namespace {

Claimed<double> described(double value, std::string method = "of these scores") {
  return {value, Claim::estimate, std::move(method)};
}

Claimed<double> end_of(double value, const char* method, double confidence) {
  return {value, Claim::estimate, method, {"the scores are independent"}, confidence};
}

AttackNumber area_of(const NamedAttack& attack, const Roc& roc, double confidence) {
  const char* method = "Newcombe's interval";
  const double auc = roc.auc();
  const ProbabilityInterval area = auc_interval(auc, roc.members(), roc.non_members(), confidence);
  return {attack.name, "AUC", described(auc), end_of(area.lower, method, confidence),
          end_of(area.upper, method, confidence)};
}

AttackNumber rate_of(const NamedAttack& attack, const Roc& roc, double fpr, double confidence) {
  const char* method = "Clopper-Pearson interval at this threshold";
  const RocPoint& point = roc.point_at(fpr);
  const ProbabilityInterval interval =
      clopper_pearson(point.true_positives, roc.members(), confidence);
  const bool resolved = fpr * static_cast<double>(roc.non_members()) >= 1.0;
  return {attack.name, fmt::format("TPR at {:g} % FPR", 100.0 * fpr),
          resolved ? described(roc.tpr(point))
                   : described(roc.tpr(point),
                               "at zero false positives: too few non-members for a lower rate"),
          end_of(interval.lower, method, confidence), end_of(interval.upper, method, confidence)};
}

std::vector<AttackNumber> numbers_of(const NamedAttack& attack, double confidence) {
  if (!attack.problem.empty()) return {{attack.name, "AUC", Empty{attack.problem}}};
  const Roc roc(attack.scores);
  std::vector<AttackNumber> numbers = {
      area_of(attack, roc, confidence),
      {attack.name, "advantage, largest TPR - FPR",
       described(roc.advantage(), "of these scores; biased upwards because it is a maximum")}};
  for (const double fpr : {0.1, 0.01, 0.001}) {
    numbers.push_back(rate_of(attack, roc, fpr, confidence));
  }
  return numbers;
}

RowFields<AttackNumber> attack_fields(double confidence) {
  using Row = AttackNumber;
  return {
      {.key = "attack",
       .title = "scores",
       .of = [](const Row& row) { return Cell(row.attack); },
       .brief = 1},
      {.key = "quantity",
       .title = "quantity",
       .of = [](const Row& row) { return Cell(row.quantity); }},
      {.key = "value",
       .title = "value",
       .of = [](const Row& row) { return row.value; },
       .brief = 2},
      {.key = "lower",
       .title = fmt::format("{} % from", format_confidence_percent(confidence)),
       .of = [](const Row& row) { return row.lower; },
       .brief = 3},
      {.key = "upper", .title = "to", .of = [](const Row& row) { return row.upper; }, .brief = 4}};
}

RowFields<ShownNumber> shown_fields() {
  using Row = ShownNumber;
  return {{.key = "quantity",
           .title = "quantity",
           .of = [](const Row& row) { return Cell(row.title); }},
          {.key = "value", .title = "value", .of = [](const Row& row) { return row.value; }},
          {.key = "maximum", .title = "maximum", .of = [](const Row& row) {
             return row.maximum ? Cell(maximum_cell(*row.maximum)) : Cell(Empty{});
           }}};
}

std::string epsilon_title(double delta) { return quantity_text(AuditedQuantity::epsilon, delta); }

template <class Shown>
ShownNumber epsilon_number(const Shown& audit, double delta) {
  return {epsilon_title(delta),
          audit.epsilon(Delta(delta)),
          audit.maximum_epsilon(Delta(delta)),
          "epsilon",
          {{"delta", delta}},
          true};
}

template <class Shown>
void add_if_gdp(std::vector<ShownNumber>* numbers, const Shown& audit,
                std::span<const double> deltas) {
  numbers->push_back({"mu", audit.mu(), {}, "mu"});
  for (const double delta : deltas) {
    if (delta == 0.0) continue;  // infinite for every mu
    numbers->push_back(
        {epsilon_title(delta) + ", if Gaussian-DP", audit.epsilon_if_gdp(Delta(delta))});
  }
}

const char* origin_text(ThresholdStrategy origin) {
  switch (origin) {
    case ThresholdStrategy::held_out: return "other models";
    case ThresholdStrategy::ranks: return "rank";
    case ThresholdStrategy::fixed: return "given";
    case ThresholdStrategy::combined: break;
  }
  throw InternalError("a threshold comes from nowhere");
}

/// The one event whose threshold was settled without the scores that decide, if there is just one.
const AuditedEvent* event_of_its_own(const Audit& audit) {
  const AuditedEvent* found = nullptr;
  for (const AuditedEvent& event : audit.events()) {
    if (event.origin == ThresholdStrategy::ranks) continue;
    if (found != nullptr) return nullptr;
    found = &event;
  }
  return found;
}

std::string protected_text(WorldsDiffer worlds) {
  switch (worlds) {
    case WorldsDiffer::by_a_replaced_record: return "which of two records was trained on";
    case WorldsDiffer::in_their_losses: return "which of the two losses was trained on";
    case WorldsDiffer::unknown:
    case WorldsDiffer::by_a_removed_record: return "whether one record was trained on";
  }
  throw InternalError("an unknown difference of D and D'");
}

std::string adjacency_text(WorldsDiffer worlds) {
  switch (worlds) {
    case WorldsDiffer::unknown: return "not stated";
    case WorldsDiffer::by_a_removed_record: return "remove";
    case WorldsDiffer::by_a_replaced_record: return "replace";
    case WorldsDiffer::in_their_losses: return "as defined by the study";
  }
  throw InternalError("an unknown difference of D and D'");
}

Text access_text(const std::optional<ScoreAccess>& access) {
  if (!access) return "unstated access";
  switch (*access) {
    case ScoreAccess::outputs: return "black-box access (outputs)";
    case ScoreAccess::weights: return "white-box access (weights, gradients)";
    case ScoreAccess::distribution:
      return say("white-box access and the distributions of the weights on D and {}", Maths{"D'"});
  }
  throw InternalError("an unknown access");
}

}  // namespace

void add_membership(Document& document, const std::vector<NamedAttack>& attacks, double confidence,
                    const Text& advice) {
  std::vector<AttackNumber> numbers;
  for (const NamedAttack& attack : attacks) {
    for (AttackNumber& number : numbers_of(attack, confidence)) {
      numbers.push_back(std::move(number));
    }
    if (attack.problem.empty() && scores_reversed(attack.scores)) {
      document.state(StatementKind::warning, say("{}: non-members score higher than members. {}",
                                                 GivenName{attack.name}, advice));
    }
  }
  document.add(table_of("membership", "Membership inference (descriptive, not a bound)",
                        attack_fields(confidence), numbers, 2));
}

Claimed<double> maximum_cell(double maximum) {
  return {maximum, Claim::exact,
          "maximum auditable epsilon: the largest that this many models can certify"};
}

void add_bounds(Document& document, const Audit& audit, const BoundsView& view) {
  document.add(table_of("bounds", "What these models show", shown_fields(),
                        shown_numbers(audit, view.deltas, view.epsilons, view.independent_worlds)));
  const double sign = view.smaller_means_members ? -1.0 : 1.0;
  using Event = AuditedEvent;
  document.add(table_of<Event>(
      "tests", "Tests: score >= threshold",
      {{.key = "sample",
        .title = "sample",
        .of = [](const Event& event) { return Cell(event.sample + 1); }},
       {.key = "threshold",
        .title = "threshold",
        .of = [sign](const Event& event) { return Cell(sign * event.threshold); }},
       {.key = "true_positives",
        .title = "on D",
        .of = [](const Event& event) { return Cell(event.counts.true_positives); }},
       {.key = "positives",
        .title = "of",
        .of = [](const Event& event) { return Cell(event.counts.positives); }},
       {.key = "false_positives",
        .title = "on D'",
        .of = [](const Event& event) { return Cell(event.counts.false_positives); }},
       {.key = "negatives",
        .title = "of",
        .of = [](const Event& event) { return Cell(event.counts.negatives); }},
       {.key = "origin",
        .title = "threshold from",
        .of = [](const Event& event) { return Cell(origin_text(event.origin)); }},
       {.key = "level",
        .title = "level",
        .of = [](const Event& event) { return Cell(event.level); }}},
      audit.events(), 2));
  if (sign < 0.0) {
    document.state(StatementKind::info,
                   "Smaller scores mean members, so the tests are score <= threshold.");
  }
}

std::vector<ShownNumber> shown_numbers(const Audit& audit, std::span<const double> deltas,
                                       std::span<const double> epsilons, bool independent_worlds) {
  std::vector<ShownNumber> numbers;
  for (const double delta : deltas) numbers.push_back(epsilon_number(audit, delta));
  for (const double eps : epsilons) {
    numbers.push_back({quantity_text(AuditedQuantity::delta, eps),
                       audit.delta(Epsilon(eps)),
                       {},
                       "delta",
                       {{"epsilon", eps}},
                       true});
  }
  add_if_gdp(&numbers, audit, deltas);
  const AuditedEvent* event = event_of_its_own(audit);
  if (!independent_worlds || event == nullptr) return numbers;
  for (const double delta : deltas) {
    const EpsilonInterval interval =
        credible_epsilon(event->counts, Delta(delta), audit.confidence(), Worlds::independent);
    numbers.push_back({epsilon_title(delta) + ", credible from", interval.lower});
    numbers.push_back({epsilon_title(delta) + ", credible to", interval.upper});
  }
  return numbers;
}

std::vector<ShownNumber> shown_numbers(const OneRunAudit& audit, std::span<const double> deltas) {
  const CanaryGuesses& best = audit.best(Delta(deltas.front()));
  std::vector<ShownNumber> numbers = {
      {"canaries", best.canaries}, {"guesses", best.guesses}, {"correct", best.correct}};
  for (const double delta : deltas) numbers.push_back(epsilon_number(audit, delta));
  add_if_gdp(&numbers, audit, deltas);
  return numbers;
}

Table brief_bounds_table(const std::vector<ShownNumber>& numbers) {
  std::vector<ShownNumber> rows;
  std::copy_if(numbers.begin(), numbers.end(), std::back_inserter(rows),
               [](const ShownNumber& number) { return number.brief; });
  return table_of("bounds", "What these models show", bare_fields(shown_fields()), rows);
}

void add_shown_results(Document& document, const std::vector<ShownNumber>& numbers,
                       const std::vector<Subject>& of) {
  for (const ShownNumber& number : numbers) {
    if (number.result.empty()) continue;
    std::vector<Subject> subjects = of;
    subjects.insert(subjects.end(), number.at.begin(), number.at.end());
    document.add_result(number.result + "_lower", number.value, subjects);
    if (!number.maximum) continue;
    document.add_result(number.result + "_maximum", maximum_cell(*number.maximum), subjects);
  }
}

Table areas_table(const std::vector<NamedAttack>& attacks, double confidence) {
  std::vector<AttackNumber> areas;
  for (const NamedAttack& attack : attacks) {
    if (attack.problem.empty()) areas.push_back(area_of(attack, Roc(attack.scores), confidence));
  }
  RowFields<AttackNumber> fields = shown(attack_fields(confidence), Detail::brief);
  fields[1].title = "AUC";
  return table_of("membership", "AUC of membership inference (descriptive, not a bound)",
                  bare_fields(std::move(fields)), areas);
}

void add_one_run(Document& document, const OneRunAudit& audit, std::span<const double> deltas) {
  RowFields<ShownNumber> fields = shown_fields();
  fields.pop_back();  // the maximum belongs to the plan
  document.add(
      table_of("one_run", "One-run audit with canaries", fields, shown_numbers(audit, deltas)));
  if (audit.guesses().size() == 1) return;
  const double level = audit.level();
  document.add(
      table_of<CanaryGuesses>("guesses", "Numbers of guesses, fixed before the coin flips",
                              {{.key = "guesses",
                                .title = "guesses",
                                .of = [](const CanaryGuesses& some) { return Cell(some.guesses); }},
                               {.key = "correct",
                                .title = "correct",
                                .of = [](const CanaryGuesses& some) { return Cell(some.correct); }},
                               {.key = "level",
                                .title = "level",
                                .of = [level](const CanaryGuesses&) { return Cell(level); }}},
                              audit.guesses()));
}

void state_scope(Document& document, const AuditScope& scope, Detail detail) {
  const std::string adjacency = adjacency_text(scope.worlds);
  const Text access = access_text(scope.access);
  if (detail == Detail::brief) {
    document.state(
        StatementKind::assumption,
        say("{}; adjacency {}; an attacker with {}. A better attack or another pair may show "
            "more: nothing here is a guarantee.",
            scope.runs, adjacency, access));
    return;
  }
  document.state(
      StatementKind::assumption,
      say("What is protected: {}; adjacency {}. Threat model: an attacker with {}, who knows all "
          "other records. {}. The numbers are about this attack and these data sets: a better "
          "attack or another pair may show more, so nothing here is a guarantee, and a bound of 0 "
          "does not mean private.",
          protected_text(scope.worlds), adjacency, access, scope.runs));
}

void state_how_to_see_more(Document& document) {
  document.state(StatementKind::summary, say("More: {} (tests and attacks), {} (figures), {}.",
                                             More::all, More::page, More::json));
}

}  // namespace sfumato::lab
