#include <fmt/format.h>

#include "lab/audit/audit_abstract.hpp"
#include "lab/audit/claims.hpp"
#include "lab/audit/evidence_tables.hpp"
#include "lab/audit/ledger_document.hpp"
#include "lab/audit/two_sided_figures.hpp"
#include "sfumato/audit/attack_figures.hpp"
#include "sfumato/audit/plan_tables.hpp"
#include "sfumato/audit/roc.hpp"
#include "sfumato/audit/score_smells.hpp"
#include "sfumato/core/overloaded.hpp"
#include "sfumato/lab/audit/audit_answer.hpp"
#include "sfumato/report/confidence.hpp"

namespace sfumato::lab {
namespace {

constexpr const char* kRecordsOnly =
    "The unit is a record: scores of records on one model share its randomness, so they describe "
    "this model and do not bound epsilon (Spec §11.2).";
Text wrong_way() {
  return say("If smaller scores mean members, add {}.", larger_means_nonmember());
}

std::string title_of(const AuditQuestion& question) {
  return fmt::format("Audit of {}", question.logits.empty()
                                        ? question.members + " and " + question.nonmembers
                                        : question.logits);
}

Text runs_text(const ScoresAudit& found, const AuditQuestion& question) {
  return std::visit(
      Overloaded{[&](const ScoreFiles& files) {
                   Text runs = question.unit == ScoreUnit::models
                                   ? say("{} models with the record and {} without", files.with,
                                         files.without)
                                   : say("{} records that were trained on and {} that were not",
                                         files.with, files.without);
                   if (files.columns > 1) {
                     runs += say(", in each of {} samples", files.columns);
                     if (question.pool) runs += ", pooled: each run drew its pair at random";
                   }
                   return runs;
                 },
                 [](const ShadowLayout& layout) {
                   return say("{} models, {} records, each in the training data of some models",
                              layout.models, layout.records);
                 }},
      found.source);
}

/// What was attacked, for the top of the page.
Text released_text(const ScoresAudit& found, const AuditQuestion& question) {
  const bool of_records =
      question.unit == ScoreUnit::records && std::holds_alternative<ScoreFiles>(found.source);
  return say("{}: {}.",
             of_records ? "One trained model, attacked on single records"
                        : "Models trained with and without one record",
             runs_text(found, question));
}

AuditScope scope_of(const ScoresAudit& found, const AuditQuestion& question) {
  const WorldsDiffer worlds = !question.adjacency ? WorldsDiffer::unknown
                              : *question.adjacency == Adjacency::remove
                                  ? WorldsDiffer::by_a_removed_record
                                  : WorldsDiffer::by_a_replaced_record;
  return {worlds, question.access, runs_text(found, question)};
}

void state_repeats(Document& document, const ScoresAudit& found) {
  const auto* files = std::get_if<ScoreFiles>(&found.source);
  for (const RepeatsOf& of : found.repeats) {
    const Text where =
        files != nullptr && files->columns > 1 ? say(" in column {}", of.sample + 1) : Text();
    document.state(
        StatementKind::warning,
        say("Repeated scores{}: of the {} scores {}, {} equal another to the last digit ({} "
            "distinct values). The bounds assume independent scores: remove duplicated rows and "
            "models trained with the same seed.",
            where, of.scores.scores, of.scores.with_record ? "with the record" : "without it",
            of.scores.repeats, of.scores.values));
  }
}

/// What holds of this kind of scores.
void state_kind(Document& document, const ScoresAudit& found, const AuditQuestion& question) {
  if (!found.bounds && !found.one_run) document.state(StatementKind::warning, kRecordsOnly);
  if (const auto* layout = std::get_if<ShadowLayout>(&found.source)) {
    if (found.bounds) {
      document.state(
          StatementKind::info,
          say("LiRA is fitted on {} of {} models; each of the others is attacked on one record "
              "drawn at random.",
              layout->models / 2, layout->models));
      document.state(StatementKind::assumption,
                     "Each record was included in each model by an independent fair coin flip.");
    }
    if (found.one_run) {
      document.state(
          StatementKind::assumption,
          say("Model {} was chosen as the target in advance: testing several targets needs a "
              "multiple-testing correction.",
              question.model));
    }
  }
  if (found.ties) {
    document.state(StatementKind::info,
                   "Some canaries have equal scores. The order of the two files reveals the coin "
                   "flips, so a guess that a tie decides counts as wrong.");
  }
}

void add_everything(Document& document, const ScoresAudit& found, const AuditQuestion& question) {
  if (found.claim) state_claim(document, *found.claim, "", Detail::full);
  state_repeats(document, found);
  state_kind(document, found, question);
  if (found.bounds) {
    add_bounds(document, *found.bounds,
               {found.deltas, found.epsilons, question.independent_worlds,
                question.larger_means == LargerMeans::nonmember});
  }
  if (found.one_run) add_one_run(document, *found.one_run, found.deltas);
  add_membership(document, found.attacks, found.confidence, wrong_way());
  const auto claim = found.claim ? std::optional(found.claim->claim) : std::nullopt;
  std::vector<NamedAudit> audits;
  if (found.bounds) {
    audits.push_back({"", &*found.bounds});
    document.add(delta_figure(*found.bounds, claim));
  }
  document.add(roc_figure(found.attacks, found.confidence, claim, audits));
}

std::vector<ShownNumber> shown_of(const ScoresAudit& found) {
  return found.bounds ? shown_numbers(*found.bounds, found.deltas, found.epsilons)
                      : shown_numbers(*found.one_run, found.deltas);
}

void add_brief(Document& document, const ScoresAudit& found, const AuditQuestion& question) {
  const Delta delta(found.deltas.front());
  if (found.claim) {
    state_claim(document, *found.claim, "", Detail::brief);
  } else if (found.bounds) {
    document.state(
        StatementKind::info,
        shown_text(found.bounds->epsilon(delta), found.bounds->maximum_epsilon(delta), delta, ""));
  } else if (found.one_run) {
    document.state(StatementKind::info,
                   shown_text(found.one_run->epsilon(delta), found.one_run->maximum_epsilon(delta),
                              delta, ""));
  }
  state_repeats(document, found);
  if (!found.bounds && !found.one_run) state_kind(document, found, question);
  for (const NamedAttack& attack : found.attacks) {
    if (found.claim || !attack.problem.empty() || !scores_reversed(attack.scores)) continue;
    document.state(StatementKind::warning, say("{}: non-members score higher than members. {}",
                                               GivenName{attack.name}, wrong_way()));
  }
  if (found.bounds || found.one_run) {
    document.add(brief_bounds_table(shown_of(found)));
  } else {
    document.add(areas_table(found.attacks, found.confidence));
  }
}

Document of_scores(const ScoresAudit& found, const AuditQuestion& question, Detail detail) {
  Document document = new_document("audit", title_of(question));
  if (found.bounds || found.one_run) add_shown_results(document, shown_of(found), {});
  if (found.claim) add_claim_verdict(document, *found.claim, "");
  if (detail == Detail::brief) {
    add_brief(document, found, question);
    state_scope(document, scope_of(found, question), detail);
    state_how_to_see_more(document);
    return document;
  }
  document.set_abstract(
      {released_text(found, question),
       asked_text(found.claim ? std::optional(found.claim->claim) : std::nullopt),
       found.claim ? answer_text(*found.claim)
       : found.bounds
           ? answer_text(found.bounds->epsilon(Delta(found.deltas.front())), found.deltas.front())
       : found.one_run
           ? answer_text(found.one_run->epsilon(Delta(found.deltas.front())), found.deltas.front())
           : Text("Scores of records on one model describe this model; they bound nothing."),
       "", advice_text(found.claim ? &*found.claim : nullptr)});
  add_everything(document, found, question);
  state_scope(document, scope_of(found, question), detail);
  document.add_provenance("seed", fmt::format("{}", question.seed));
  return document;
}

/// The top of the page: how many models, by the way to choose thresholds that was asked for.
Abstract abstract_of(const AuditPlan& found) {
  const RunsNeeded& needed = found.claim.plans.front().needed;
  const auto many = [](const std::optional<std::uint64_t>& runs) {
    return runs ? say("{}", *runs) : Text("more than 10 million");
  };
  Abstract abstract;
  abstract.asked = say("How many models does it take to refute {}?", claim_said(found.claim.claim));
  abstract.answer =
      say("With an attack that never errs, {} models with the record and as many without; with one "
          "that finds half of the members at {} false positives, {}.",
          many(needed.perfect), Percent{"1"}, many(needed.half));
  abstract.advice =
      found.claim.models.per_world == 0 ? "Train at least as many as the attack you expect needs: "
                                          "with fewer, an audit that finds "
                                          "nothing says nothing."
      : found.claim.enough()
          ? "The planned models can refute the claim, if the attack is strong enough."
          : "Train more models: those that are planned cannot refute the claim, whatever the "
            "attack.";
  return abstract;
}

Document of_plan(const AuditPlan& found, Detail detail) {
  Document document = new_document("audit", "Plan of an audit of " + claim_text(found.claim.claim));
  if (detail == Detail::full) document.set_abstract(abstract_of(found));
  add_claim_plan(document, found.claim, found.confidence, "caps", detail);
  document.state(
      StatementKind::info,
      "Runs are models per data set, with the record and without it. \"Needed\" is for an "
      "attack that never errs, the columns behind it for weaker ones that do as "
      "expected.");
  document.state(StatementKind::info,
                 "No number of runs certifies that epsilon is below a value: audits refute, proven "
                 "bounds certify.");
  if (detail == Detail::brief) {
    document.state(StatementKind::summary, say("Other ways to choose thresholds: {}.", More::all));
  }
  return document;
}

}  // namespace

Document document_of(const AuditAnswer& answer, Detail detail) {
  return std::visit(Overloaded{[&](const ScoresAudit& found) {
                                 return of_scores(found, answer.question, detail);
                               },
                               [&](const LedgerAudit& found) { return document_of(found, detail); },
                               [&](const AuditPlan& found) { return of_plan(found, detail); }},
                    answer.found);
}

}  // namespace sfumato::lab
