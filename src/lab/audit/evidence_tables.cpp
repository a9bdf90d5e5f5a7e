#include "lab/audit/evidence_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

void add_rows(Table& table, const NamedAttack& attack, const Roc& roc, double confidence) {
  const auto n1 = roc.members(), n0 = roc.non_members();
  const double auc = roc.auc();
  const ProbabilityInterval area = auc_interval(auc, n1, n0, confidence);
  table.add_row({attack.name, "AUC", described(auc),
                 end_of(area.lower, "Newcombe's interval", confidence),
                 end_of(area.upper, "Newcombe's interval", confidence)});
  table.add_row({attack.name, "advantage, largest TPR - FPR",
                 described(roc.advantage(),
                           "of these scores; biased upwards because it is a "
                           "maximum"),
                 Empty{}, Empty{}});
  for (const double fpr : {0.1, 0.01, 0.001}) {
    const RocPoint& point = roc.point_at(fpr);
    const ProbabilityInterval interval = clopper_pearson(point.true_positives, n1, confidence);
    const bool resolved = fpr * static_cast<double>(n0) >= 1.0;
    table.add_row(
        {attack.name, fmt::format("TPR at {:g} % FPR", 100.0 * fpr),
         resolved ? described(roc.tpr(point))
                  : described(roc.tpr(point),
                              "at zero false positives: too few non-members for a "
                              "lower rate"),
         end_of(interval.lower, "Clopper-Pearson interval at this threshold", confidence),
         end_of(interval.upper, "Clopper-Pearson interval at this threshold", confidence)});
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

std::string access_text(const std::optional<ScoreAccess>& access) {
  if (!access) return "unstated access";
  switch (*access) {
    case ScoreAccess::outputs: return "black-box access (outputs)";
    case ScoreAccess::weights: return "white-box access (weights, gradients)";
    case ScoreAccess::distribution:
      return "white-box access and the distributions of the weights on D and D'";
  }
  throw InternalError("an unknown access");
}

}  // namespace

void add_membership(Document& document, const std::vector<NamedAttack>& attacks, double confidence,
                    const std::string& advice) {
  Table table("membership", "Membership inference (descriptive, not a bound)",
              {{"attack", "scores"},
               {"quantity", "quantity"},
               {"value", "value"},
               {"lower", fmt::format("{} % from", format_confidence_percent(confidence))},
               {"upper", "to"}},
              2);
  for (const NamedAttack& attack : attacks) {
    if (!attack.problem.empty()) {
      table.add_row({attack.name, "AUC", Empty{attack.problem}, Empty{}, Empty{}});
      continue;
    }
    const Roc roc(attack.scores);
    add_rows(table, attack, roc, confidence);
    if (scores_reversed(attack.scores)) {
      document.state(
          StatementKind::warning,
          fmt::format("{}: non-members score higher than members. {}", attack.name, advice));
    }
  }
  document.add(std::move(table));
}

Claimed<double> maximum_cell(double maximum) {
  return {maximum, Claim::exact,
          "maximum auditable epsilon: the largest that this many models can certify"};
}

void add_bounds(Document& document, const Audit& audit, const BoundsView& view) {
  Table bounds("bounds", "What these models show",
               {{"quantity", "quantity"}, {"value", "value"}, {"maximum", "maximum"}});
  for (const double delta : view.deltas) {
    bounds.add_row({fmt::format("eps at delta = {:g}", delta), audit.epsilon(Delta(delta)),
                    maximum_cell(audit.maximum_epsilon(Delta(delta)))});
  }
  for (const double eps : view.epsilons) {
    bounds.add_row({fmt::format("delta at eps = {:g}", eps), audit.delta(Epsilon(eps)), Empty{}});
  }
  bounds.add_row({"mu", audit.mu(), Empty{}});
  for (const double delta : view.deltas) {
    if (delta == 0.0) continue;  // infinite for every mu
    bounds.add_row({fmt::format("eps at delta = {:g}, if Gaussian-DP", delta),
                    audit.epsilon_if_gdp(Delta(delta)), Empty{}});
  }
  if (const AuditedEvent* event = event_of_its_own(audit);
      view.independent_worlds && event != nullptr) {
    for (const double delta : view.deltas) {
      const EpsilonInterval interval =
          credible_epsilon(event->counts, Delta(delta), audit.confidence(), Worlds::independent);
      bounds.add_row(
          {fmt::format("eps at delta = {:g}, credible from", delta), interval.lower, Empty{}});
      bounds.add_row(
          {fmt::format("eps at delta = {:g}, credible to", delta), interval.upper, Empty{}});
    }
  }
  document.add(std::move(bounds));

  Table tests("tests", "Tests: score >= threshold",
              {{"sample", "sample"},
               {"threshold", "threshold"},
               {"true_positives", "on D"},
               {"positives", "of"},
               {"false_positives", "on D'"},
               {"negatives", "of"},
               {"origin", "threshold from"},
               {"level", "level"}},
              2);
  const double sign = view.smaller_means_members ? -1.0 : 1.0;
  for (const AuditedEvent& event : audit.events()) {
    tests.add_row({event.sample + 1, sign * event.threshold, event.counts.true_positives,
                   event.counts.positives, event.counts.false_positives, event.counts.negatives,
                   origin_text(event.origin), event.level});
  }
  document.add(std::move(tests));
  if (sign < 0.0) {
    document.state(StatementKind::info,
                   "Smaller scores mean members, so the tests are score <= threshold.");
  }
}

void add_one_run(Document& document, const OneRunAudit& audit, std::span<const double> deltas) {
  const CanaryGuesses& best = audit.best(Delta(deltas.front()));
  Table table("one_run", "One-run audit with canaries",
              {{"quantity", "quantity"}, {"value", "value"}});
  table.add_row({"canaries", best.canaries});
  table.add_row({"guesses", best.guesses});
  table.add_row({"correct", best.correct});
  for (const double delta : deltas) {
    table.add_row({fmt::format("eps at delta = {:g}", delta), audit.epsilon(Delta(delta))});
  }
  table.add_row({"mu", audit.mu()});
  for (const double delta : deltas) {
    if (delta == 0.0) continue;  // infinite for every mu
    table.add_row({fmt::format("eps at delta = {:g}, if Gaussian-DP", delta),
                   audit.epsilon_if_gdp(Delta(delta))});
  }
  document.add(std::move(table));
  if (audit.guesses().size() == 1) return;
  Table numbers("guesses", "Numbers of guesses, fixed before the coin flips",
                {{"guesses", "guesses"}, {"correct", "correct"}, {"level", "level"}});
  for (const CanaryGuesses& some : audit.guesses()) {
    numbers.add_row({some.guesses, some.correct, audit.level()});
  }
  document.add(std::move(numbers));
}

void add_bound_results(Document& document, const Audit& audit, std::span<const double> deltas,
                       std::span<const double> epsilons, const Subjects& of) {
  const auto at = [&](const char* key, double value) {
    Subjects subjects = of;
    subjects.emplace_back(key, value);
    return subjects;
  };
  for (const double delta : deltas) {
    document.add_result("epsilon_lower", audit.epsilon(Delta(delta)), at("delta", delta));
    document.add_result("epsilon_maximum", maximum_cell(audit.maximum_epsilon(Delta(delta))),
                        at("delta", delta));
  }
  for (const double epsilon : epsilons) {
    document.add_result("delta_lower", audit.delta(Epsilon(epsilon)), at("epsilon", epsilon));
  }
  document.add_result("mu_lower", audit.mu(), of);
}

void add_one_run_results(Document& document, const OneRunAudit& audit,
                         std::span<const double> deltas, const Subjects& of) {
  for (const double delta : deltas) {
    Subjects subjects = of;
    subjects.emplace_back("delta", delta);
    document.add_result("epsilon_lower", audit.epsilon(Delta(delta)), subjects);
    document.add_result("epsilon_maximum", maximum_cell(audit.maximum_epsilon(Delta(delta))),
                        subjects);
  }
  document.add_result("mu_lower", audit.mu(), of);
}

void state_scope(Document& document, const AuditScope& scope, Detail detail) {
  const std::string adjacency = adjacency_text(scope.worlds);
  const std::string access = access_text(scope.access);
  if (detail == Detail::brief) {
    document.state(
        StatementKind::assumption,
        fmt::format(
            "{}; adjacency {}; an attacker with {}. A better attack or another pair may show "
            "more: nothing here is a guarantee.",
            scope.runs, adjacency, access));
    return;
  }
  document.state(
      StatementKind::assumption,
      fmt::format(
          "What is protected: {}; adjacency {}. Threat model: an attacker with {}, who knows all "
          "other records. {}. The numbers are about this attack and these data sets: a better "
          "attack or another pair may show more, so nothing here is a guarantee, and a bound of 0 "
          "does not mean private.",
          protected_text(scope.worlds), adjacency, access, scope.runs));
}

void state_how_to_see_more(Document& document) {
  document.state(StatementKind::summary,
                 "More: --full (tests and attacks), --report FILE.html (figures), --json.");
}

}  // namespace sfumato::lab
