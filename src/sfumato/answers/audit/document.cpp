#include "sfumato/answers/audit/document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sfumato/answers/audit/score_smells.hpp"
#include "sfumato/audit/auc.hpp"
#include "sfumato/audit/credible_interval.hpp"
#include "sfumato/audit/roc.hpp"
#include "sfumato/report/confidence.hpp"
#include "sfumato/report/figure.hpp"
#include "sfumato/report/number.hpp"

namespace sfumato {
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
                 described(roc.advantage(), "of these scores; biased upwards, as a maximum is"),
                 Empty{}, Empty{}});
  for (const double fpr : {0.1, 0.01, 0.001}) {
    const RocPoint& point = roc.point_at(fpr);
    const ProbabilityInterval interval = clopper_pearson(point.true_positives, n1, confidence);
    const bool resolved = fpr * static_cast<double>(n0) >= 1.0;
    table.add_row(
        {attack.name, fmt::format("TPR at {:g} % FPR", 100.0 * fpr),
         resolved ? described(roc.tpr(point))
                  : described(roc.tpr(point), "at no false positive: too few non-members for less"),
         end_of(interval.lower, "Clopper-Pearson interval at this threshold", confidence),
         end_of(interval.upper, "Clopper-Pearson interval at this threshold", confidence)});
  }
}

std::string runs_text(std::uint64_t per_world, RunsNeeded unit) {
  switch (unit) {
    case RunsNeeded::models_per_world:
      return fmt::format("At least {} models per world are needed.", per_world);
    case RunsNeeded::shadow_models:
      return fmt::format(
          "About {} shadow models are needed: half of them fit the attack, and the record is in "
          "half of the others.",
          4 * per_world);
  }
  throw InternalError("unknown unit of runs");
}

std::string key_of(const std::string& name) {
  std::string key = name;
  std::replace_if(
      key.begin(), key.end(), [](char c) { return c == ' ' || c == '-' || c == ','; }, '_');
  return key;
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

}  // namespace

void add_membership(Document& document, const std::vector<NamedAttack>& attacks,
                    double confidence) {
  Table table("membership", "Membership inference (describes, bounds nothing)",
              {{"attack", "scores"},
               {"quantity", "quantity"},
               {"value", "value"},
               {"lower", fmt::format("{} % from", format_confidence_percent(confidence))},
               {"upper", "to"}},
              2);
  Figure figure("roc", "ROC", Mark::line, {"false-positive rate", "", Scale::log},
                {"true-positive rate", "", Scale::log});
  for (const NamedAttack& attack : attacks) {
    if (!attack.problem.empty()) {
      table.add_row({attack.name, "AUC", Empty{attack.problem}, Empty{}, Empty{}});
      continue;
    }
    const Roc roc(attack.scores);
    add_rows(table, attack, roc, confidence);
    Series series{key_of(attack.name), attack.name, {}, {}, {}, Claim::estimate, "empirical ROC"};
    for (const RocPoint& point : roc.thinned(200)) {
      if (point.true_positives == 0 || point.false_positives == 0) continue;  // not on log axes
      series.x.push_back(roc.fpr(point));
      series.y.push_back(roc.tpr(point));
    }
    figure.add(std::move(series));
    if (scores_reversed(attack.scores)) {
      document.state(
          StatementKind::warning,
          fmt::format("{}: non-members score higher than members. If smaller scores mean "
                      "members, say so with --larger-means nonmember.",
                      attack.name));
    }
  }
  document.add(std::move(table));
  document.add(std::move(figure));
}

void add_bounds(Document& document, const Audit& audit, const AuditCommand& command) {
  Table bounds("bounds", "What these models show",
               {{"quantity", "quantity"}, {"value", "value"}, {"most", "perfect attack"}});
  for (const double delta : command.deltas) {
    bounds.add_row({fmt::format("eps at delta = {:g}", delta), audit.epsilon(Delta(delta)),
                    Claimed<double>{audit.epsilon_cap(Delta(delta)), Claim::exact,
                                    "what an attack without errors would show with these models"}});
  }
  for (const double eps : command.epsilons) {
    bounds.add_row({fmt::format("delta at eps = {:g}", eps), audit.delta(Epsilon(eps)), Empty{}});
  }
  bounds.add_row({"mu", audit.mu(), Empty{}});
  for (const double delta : command.deltas) {
    if (delta == 0.0) continue;  // infinite for every mu
    bounds.add_row({fmt::format("eps at delta = {:g}, if Gaussian-DP", delta),
                    audit.epsilon_if_gdp(Delta(delta)), Empty{}});
  }
  if (const AuditedEvent* event = event_of_its_own(audit);
      command.independent_worlds && event != nullptr) {
    for (const double delta : command.deltas) {
      const EpsilonInterval interval =
          credible_epsilon(event->counts, Delta(delta), command.confidence, Worlds::independent);
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
  const double sign = command.larger_means == "member" ? 1.0 : -1.0;
  for (const AuditedEvent& event : audit.events()) {
    tests.add_row({event.sample + 1, sign * event.threshold, event.counts.true_positives,
                   event.counts.positives, event.counts.false_positives, event.counts.negatives,
                   origin_text(event.origin), event.level});
  }
  document.add(std::move(tests));
  if (sign < 0.0) {
    document.state(StatementKind::info,
                   "Smaller scores mean members: the tests are score <= "
                   "threshold.");
  }
}

void add_one_run(Document& document, const OneRunAudit& audit, const std::vector<double>& deltas) {
  const CanaryGuesses& best = audit.best(Delta(deltas.front()));
  Table table("one_run", "One run with canaries", {{"quantity", "quantity"}, {"value", "value"}});
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
  Table numbers("guesses", "Numbers of guesses, settled before the coins",
                {{"guesses", "guesses"}, {"correct", "correct"}, {"level", "level"}});
  for (const CanaryGuesses& some : audit.guesses()) {
    numbers.add_row({some.guesses, some.correct, audit.level()});
  }
  document.add(std::move(numbers));
}

void add_claim(Document& document, const ClaimCheck& check, const ClaimedGuarantee& claim,
               const Judgement& judgement, Verdict& verdict) {
  const std::string what =
      fmt::format("eps = {:g}, delta = {:g}", claim.epsilon.nats(), claim.delta.probability());
  const std::string shown = format_number(check.found.value.nats(), Rounding::down);
  std::string text;
  Outcome outcome = Outcome::open;
  switch (check.verdict) {
    case ClaimVerdict::violation:
      text = fmt::format(
          "VIOLATION of the claim {}: these models show eps >= {} with confidence {} %.", what,
          shown, format_confidence_percent(check.found.confidence.value_or(0.0)));
      outcome = Outcome::bad;
      break;
    case ClaimVerdict::not_enough_runs:
      text = fmt::format(
          "NOT ENOUGH RUNS to check the claim {}: not even a perfect attack could show more than "
          "eps = {:.4f}. {}",
          what, check.cap,
          !judgement.more.empty() ? judgement.more
          : check.runs_needed     ? runs_text(*check.runs_needed, judgement.unit)
                                  : "No feasible number of models would do.");
      break;
    case ClaimVerdict::not_refuted:
      if (judgement.reversed) {
        text = fmt::format(
            "OPEN: the claim {} was not tested, because non-members score higher than members. If "
            "smaller scores mean members, say so with --larger-means nonmember; if not, check "
            "which scores are whose.",
            what);
        break;
      }
      text = fmt::format(
          "PASS (not refuted): these models show eps >= {} at delta = {:g}, and the claim is {}. "
          "This does not prove it: a perfect attack would have shown {:.4f}, another attack or "
          "another pair of data sets may show more.",
          shown, claim.delta.probability(), what, check.cap);
      outcome = Outcome::good;
      break;
  }
  verdict = worst(verdict, outcome == Outcome::bad    ? Verdict::violated
                           : outcome == Outcome::open ? Verdict::open
                                                      : Verdict::not_refuted);
  document.state(StatementKind::verdict, text, outcome);
}

void state_scope(Document& document, const AuditCommand& command, const std::string& runs) {
  const std::string record = command.adjacency == "replace" ? "which of two records was trained on"
                             : command.adjacency == "losses"
                                 ? "which of the two losses was trained on"
                                 : "whether one record was trained on";
  document.state(
      StatementKind::assumption,
      fmt::format(
          "What is protected: {}; adjacency {}. Threat model: an attacker with {}, who knows all "
          "other records. {}. The numbers are about the attack that made the scores and the data "
          "sets that were trained on: a better attack or another pair may show more, so no value "
          "here is a guarantee, and a bound of 0 does not mean private.",
          record,
          command.adjacency.empty()       ? "unknown (not given)"
          : command.adjacency == "losses" ? "as the study gives it"
                                          : command.adjacency,
          command.access.empty()          ? "access that is unknown (not given)"
          : command.access == "white-box" ? "white-box access (weights, gradients)"
          : command.access == "law" ? "white-box access and the laws of the weights on D and D'"
                                    : "black-box access (outputs)",
          runs));
}

}  // namespace sfumato
