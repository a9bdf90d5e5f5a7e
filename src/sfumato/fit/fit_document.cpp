#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sfumato/fit/fit_answer.hpp"
#include "sfumato/fit/fit_tables.hpp"
#include "sfumato/problem/closing.hpp"

namespace sfumato {
namespace {

/// Numbers of sentences have few digits.
ClaimedNumber short_number(double value, Claim claim, int digits = 3) {
  return {{value, claim}, NumberStyle::general, digits};
}

/// "epsilon <= 1.000 at delta = 1e-6".
Text epsilon_text(const Guarantee& guarantee) {
  return say("{} {} at {} = {}", Maths{"epsilon <="},
             ClaimedNumber{{guarantee.epsilon().nats(), Claim::upper_bound}}, Maths{"delta"},
             guarantee.delta().probability());
}

Text measure_of(const FitAnswer& answer) {
  return answer.plan.model == FitModel::ridge ? say("{}", Maths{"R^2"}) : Text("Accuracy");
}

/// "R^2 ~ 0.512 +- 0.021 (95 %)": on rows that the fit did not see.
Text accuracy_text(const FitAnswer& answer, const HeldOut& held) {
  return say("{} ~ {} {} {} ({})", measure_of(answer), short_number(held.value, Claim::estimate),
             Maths{"+-"}, short_number(kNormal95 * held.error, Claim::estimate, 2), Percent{"95"});
}

void state_guarantee(const FitAnswer& answer, Document& document) {
  if (!answer.guarantee) {
    for (const std::string& caveat : answer.caveats) {
      document.state(StatementKind::warning, say("NO GUARANTEE, and no epsilon: {}.", caveat));
    }
    return;
  }
  document.state(
      StatementKind::verdict,
      say("{}, for all tables of at most {} records that {}{}.", epsilon_text(*answer.guarantee),
          answer.table.rows, describe_neighbours(answer.guarantee->releases()),
          answer.plan.noise_mode == NoiseMode::grid ? ""
                                                    : " (idealised: noise in double precision)"),
      Outcome::good);
}

void state_accuracy(const FitAnswer& answer, Document& document) {
  if (!answer.held_out) {
    document.state(
        StatementKind::info,
        say("No rows were held out: nothing is known of the accuracy ({}).", KeyName{"holdout"}));
    return;
  }
  const HeldOut& held = *answer.held_out;
  document.state(
      StatementKind::info,
      held.resolved
          ? say("{}, a private estimate from the {} % of the rows that the fit did not see.",
                accuracy_text(answer, held), 100.0 * answer.plan.holdout)
          : say("{}: the noise hides it; more rows or a larger epsilon would show it.",
                measure_of(answer)));
}

/// Which rule holds, and not how many records it is about: that number would be a release.
Text missing_text(const PublicTable& table) {
  return say(
      "Missing values: {}. A record that is dropped contributes nothing, as does one without a "
      "target; how many there are is private.",
      describe_missing(table));
}

Text mechanism_text(const FitAnswer& answer) {
  return say("Mechanism: {}; {}.", description(answer.plan.mechanism()),
             answer.question.seed ? "repeatable noise from a seed"
             : answer.plan.noise_mode == NoiseMode::grid
                 ? "exact noise on a grid, from the operating system"
                 : "noise in double precision, whose low bits are not protected");
}

/// Numbers about the rows of the table are no release: whoever reads them must hold the table.
void state_rows(const FitAnswer& answer, Document& document) {
  if (!answer.rows) return;
  document.state(StatementKind::warning,
                 "NOT FOR PUBLICATION: the risks of rows were computed from the table itself, "
                 "without noise. The model and its statement keep their guarantee; this page has "
                 "none.");
}

void state_audit(const FitAnswer& answer, Document& document) {
  if (!answer.audit) return;
  const FitAudit& audit = *answer.audit;
  const Text found =
      say("{} fits with a canary and {} without show {} {} ({}); proven is {} {}", audit.runs,
          audit.runs, Maths{"mu >="}, short_number(audit.mu.value, Claim::lower_bound),
          Percent{"99.9"}, Maths{"mu <="}, short_number(audit.proven_mu, Claim::upper_bound));
  const Text most = say("a perfect attack could show at most {} {}", Maths{"mu >="},
                        short_number(audit.maximum_mu, Claim::lower_bound));
  switch (audit.verdict) {
    case Verdict::violated:
      document.state(StatementKind::verdict, say("{}: {}.", VerdictWord{"VIOLATION"}, found),
                     Outcome::bad);
      return;
    case Verdict::open:
      document.state(StatementKind::verdict,
                     say("{}: {}, and with so many fits {}. Raise {}.",
                         VerdictWord{"NOT ENOUGH RUNS"}, found, most, KeyName{"audit_runs"}),
                     Outcome::open);
      return;
    default:
      // Neither good nor bad news: how much it is worth is what it would have noticed.
      document.state(StatementKind::verdict,
                     say("{}: {}. So many fits would notice an implementation whose {} is about {} "
                         "or more; {}.",
                         VerdictWord{"NOT REFUTED"}, found, Maths{"mu"},
                         short_number(audit.noticed_mu, Claim::upper_bound), most),
                     Outcome::none);
  }
}

void add_results(const FitAnswer& answer, Document& document) {
  sfumato::add_results(document, guarantee_fields(answer), answer, {}, Missing::left_out);
  const RowFields<FitCoefficient> numbers = coefficient_fields(answer);
  for (const FitCoefficient& one : coefficients_of(answer)) {
    std::vector<Subject> of;
    if (one.group) of.emplace_back("class", *one.group);
    of.emplace_back("feature", one.feature);
    sfumato::add_results(document, numbers, one, of, Missing::left_out);
  }
  if (answer.audit) {
    sfumato::add_results(document, audit_fields(), *answer.audit, {}, Missing::left_out);
  }
  for (const FitBound& bound : bounds_of(answer)) {
    if (bound.row.empty()) continue;
    sfumato::add_results(document, bound_fields(answer), bound, {{"row", bound.row}},
                         Missing::left_out);
  }
}

Text advice_without_guarantee(const FitQuestion& question) {
  if (question.seed) return "Use them for experiments, and fit once more without a seed.";
  if (question.bounds == "self") {
    return say("Declare public bounds ({} writes a file to fill in).", KeyName{"template"});
  }
  return "Do not publish them: the warnings say why.";
}

Abstract abstract_of(const FitAnswer& answer) {
  Abstract abstract;
  abstract.released = say("The coefficients below, of a regression of {} on {} features.",
                          answer.table.target, answer.model.features.size());
  abstract.asked = "May these coefficients be published?";
  if (!answer.guarantee) {
    abstract.answer = "No: they carry no guarantee.";
    abstract.advice = advice_without_guarantee(answer.question);
    return abstract;
  }
  abstract.answer = say("Yes: they are differentially private, {}, whatever the table.",
                        epsilon_text(*answer.guarantee));
  if (answer.held_out && answer.held_out->resolved) {
    abstract.cost =
        say("{} on rows that the fit did not see.", accuracy_text(answer, *answer.held_out));
  }
  abstract.advice = say(
      "Publish the coefficients and the guarantee, and nothing else of the table{}; fitting again "
      "spends the budget again.",
      answer.rows ? ", least of all the risks of rows on this page" : "");
  return abstract;
}

std::string title_of(const FitAnswer& answer) {
  const char* kind = answer.plan.model == FitModel::ridge      ? "linear"
                     : answer.plan.model == FitModel::logistic ? "logistic"
                                                               : "softmax";
  return fmt::format("Private {} regression of {}", kind, answer.table.target);
}

void state_made(const FitAnswer& answer, Document& document) {
  if (answer.candidates > 1) {
    document.state(
        StatementKind::info,
        say("The held-out rows chose {} of {} fits, privately; all of them are paid for.",
            name(answer.plan.mechanism()), answer.candidates));
  }
  document.state(StatementKind::info, missing_text(answer.table));
  document.state(StatementKind::info, mechanism_text(answer));
  if (answer.metric_gain && answer.plan.mechanism() == FitMechanism::whitened) {
    document.state(
        StatementKind::info,
        say("Shaped noise: ~ {} times less error than isotropic noise in the same descent (from "
            "the released spectrum).",
            short_number(*answer.metric_gain, Claim::estimate, 2)));
  }
}

void add_coefficients(const FitAnswer& answer, Detail detail, Document& document) {
  document.add(coefficients_table(answer, detail));
  const std::size_t all = coefficients_of(answer).size();
  if (detail == Detail::brief && all > kBriefCoefficients) {
    document.state(StatementKind::info,
                   say("These are {} of {} coefficients: {} shows all of them, {} writes them.",
                       kBriefCoefficients, all, More::all, KeyName{"out"}));
  }
  if (!answer.no_intervals.empty()) {
    document.state(StatementKind::info, say("No intervals: {}.", answer.no_intervals));
  }
}

void add_background(const FitAnswer& answer, Document& document) {
  if (const std::optional<Figure> figure = by_epsilon_figure(answer)) document.add(*figure);
  if (answer.model.errors) document.add(effects_figure(answer));
  if (answer.audit || answer.rows) document.add(bounds_figure(answer));
  document.add(settings_table(answer));
  document.add(public_table(answer));
  if (!answer.guarantee) return;
  for (const std::string& condition : conditions_of(answer.guarantee->releases())) {
    document.state(StatementKind::assumption, say("{}.", condition));
  }
}

/// What the guarantee does not say by itself.
void state_limits(const FitAnswer& answer, Document& document) {
  const auto& sources = answer.table.sources;
  if (answer.guarantee && !answer.delta_warning.empty()) {
    document.state(StatementKind::warning, answer.delta_warning);
  }
  if (answer.guarantee && std::count(sources.begin(), sources.end(), "") > 0) {
    document.state(
        StatementKind::warning,
        "some bounds are declared without a source: a reader cannot tell that they were known "
        "without the table.");
  }
  document.state(
      StatementKind::assumption,
      "the table is well-formed (numbers where numbers are declared; others are refused before "
      "anything is released).");
  document.state(
      StatementKind::assumption,
      "the bounds come from outside the table, and nobody fits again because a result looks bad: "
      "every fit spends its own budget.");
}

}  // namespace

Document document_of(const FitAnswer& answer, Detail detail) {
  Document document = new_document("fit", title_of(answer));
  if (!answer.checksum.empty()) document.add_provenance("bounds", answer.checksum);
  if (answer.stopped) {
    close_document(
        document, detail, true,
        "Stopped before the end: nothing may be published, and what was drawn counts as spent.");
    return document;
  }
  if (detail == Detail::full) document.set_abstract(abstract_of(answer));
  state_guarantee(answer, document);
  state_accuracy(answer, document);
  state_audit(answer, document);
  state_rows(answer, document);
  state_made(answer, document);
  add_coefficients(answer, detail, document);
  document.add(budget_table(answer));
  if (!answer.booked.empty()) document.state(StatementKind::info, answer.booked);
  if (answer.rows) document.add(bounds_table(answer));
  if (!answer.predictions.empty()) document.add(predictions_table(answer));
  if (detail == Detail::full) add_background(answer, document);
  state_limits(answer, document);
  add_results(answer, document);
  close_document(
      document, detail, false,
      answer.guarantee && answer.rows
          ? "The model may be published with its statement; the table and this page may not."
      : answer.guarantee ? "The model may be published with its statement; the table may not."
                         : "For trying out only: this model has no guarantee.");
  return document;
}

}  // namespace sfumato
