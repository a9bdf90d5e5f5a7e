#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <utility>
#include <vector>

#include "lab/study/plan_answer.hpp"
#include "sfumato/audit/plan_tables.hpp"
#include "sfumato/core/clock_text.hpp"

namespace sfumato::lab {
namespace {

void add_size(Document& document, const Study& study) {
  const AuditSpec& audit = study.audit;
  const std::uint64_t groups = std::uint64_t{audit.pairs} * audit.replicas;
  Table table("study", "What is trained",
              {{"policies", "policies"},
               {"pairs", "pairs"},
               {"replicas", "replicas"},
               {"groups", "groups"},
               {"models", "models"},
               {"steps", "steps each"}});
  table.add_row({study.noise.size(), audit.pairs, audit.replicas, groups,
                 audit.worlds() * groups * study.noise.size(), study.train.iterations});
  document.add(std::move(table));
}

void add_claims(Document& document, const StudyPlanAnswer& answer, Detail detail) {
  for (std::size_t i = 0; i < answer.claims.size(); ++i) {
    const std::string key = answer.claims.size() == 1 ? "maxima" : fmt::format("maxima_{}", i + 1);
    add_claim_plan(document, answer.claims[i], answer.confidence, key, detail);
  }
}

/// "eps >= 4.382 at delta = 1e-05".
Maths shown_by_guesses(double epsilon, double delta) {
  return {fmt::format("eps >= {:.3f} at delta = {:g}", epsilon, delta)};
}

void add_coins(Document& document, const StudyPlanAnswer& answer) {
  const double delta = answer.delta.probability();
  if (answer.canaries) {
    document.state(StatementKind::info,
                   say("{} canaries, all guessed correctly, would show {}.",
                       answer.canaries->models, shown_by_guesses(answer.canaries->maximum, delta)));
    document.add_result("maximum_auditable_epsilon", answer.canaries->maximum,
                        {{"canaries", answer.canaries->models}, {"delta", delta}});
  }
  if (answer.shadows) {
    document.state(
        StatementKind::info,
        say("{} shadow models leave {} to guess, one record each: if half are members and all are "
            "guessed correctly, they show {}.",
            answer.shadows->models, answer.shadows->guessed,
            shown_by_guesses(answer.shadows->maximum, delta)));
    document.add_result("maximum_auditable_epsilon", answer.shadows->maximum,
                        {{"shadow_models", answer.shadows->models}, {"delta", delta}});
  }
}

void add_time(Document& document, const StudyPlanAnswer& answer, Detail detail) {
  const TimePlan& plan = *answer.time;
  const char* unit = answer.question.ranks != 0 ? "ranks" : "threads";
  Table table(
      "time", "Estimated training time",
      {{"where", "where"}, {"workers", unit}, {"seconds", "seconds"}, {"clock", "h:min:s"}});
  const auto add_row = [&](const std::string& where, double seconds) {
    const Claimed<double> estimate{seconds, Claim::estimate, "measured speed, groups in turn"};
    table.add_row({where, plan.wanted, estimate, clock_text(seconds)});
    document.add_result("seconds", estimate, {{"where", where}});
    if (detail == Detail::brief) {
      document.state(StatementKind::info, say("Training takes about {} on {} ({} {}).",
                                              clock_text(seconds), where, plan.wanted, unit));
    }
  };
  add_row(fmt::format("this machine, {} cores", plan.cores), plan.seconds_here);
  if (plan.seconds_there) {
    add_row(fmt::format("{} such cores", plan.wanted), *plan.seconds_there);
  }
  if (detail == Detail::full) document.add(std::move(table));
}

void state_speed(Document& document, const StudyPlanAnswer& answer) {
  const TimePlan& plan = *answer.time;
  document.state(StatementKind::info,
                 say("A group of {} models takes {} s with {} at once, {} under the current load "
                     "of this machine.",
                     answer.study.audit.worlds() * answer.study.noise.size(),
                     fmt::format("{:.3g}", plan.calibration.group_seconds), plan.at_once,
                     plan.calibration.whole ? "measured" : "extrapolated from steps"));
}

/// The top of the page: whether the planned models are enough for every claim, and how long they take.
Abstract abstract_of(const StudyPlanAnswer& answer) {
  const AuditSpec& audit = answer.study.audit;
  Abstract abstract;
  abstract.released =
      say("Nothing yet: {} models are to be trained.",
          audit.worlds() * audit.pairs * audit.replicas * answer.study.noise.size());
  abstract.asked = "Are these models enough for an audit that can refute the claim?";
  Text open, enough;
  for (const ClaimPlan& plan : answer.claims) {
    if (plan.models.per_world == 0) continue;
    Text& claims = plan.enough() ? enough : open;
    claims += say("{}{}", claims.empty() ? "" : ", ",
                  Maths{fmt::format("eps = {:g}", plan.claim.epsilon.nats())});
  }
  if (!open.empty()) {
    abstract.answer = say("No: not even an attack that never errs would refute {}.", open);
    abstract.advice = "Train more models (audit.replicas); the table says how many are needed.";
  } else if (!enough.empty()) {
    abstract.answer =
        say("Yes, if the attack is strong enough: one that never errs refutes {}.", enough);
    abstract.advice =
        "Run it (sfumato study run), or train as many more as the attack that you expect needs.";
  }
  if (answer.time && !abstract.answer.empty()) {
    abstract.answer +=
        say(" Training takes about {} on this machine.", clock_text(answer.time->seconds_here));
  }
  return abstract;
}

}  // namespace

Document document_of(const StudyPlanAnswer& answer, Detail detail) {
  const Study& study = answer.study;
  const bool full = detail == Detail::full;
  Document document = new_document(
      "study plan", study.title.empty() ? "Study " + answer.question.study : study.title);
  if (full) {
    if (Abstract abstract = abstract_of(answer); !abstract.answer.empty()) {
      document.set_abstract(std::move(abstract));
    }
    add_size(document, study);
  }
  add_claims(document, answer, detail);
  add_coins(document, answer);
  if (full && !answer.claims.empty()) {
    document.state(StatementKind::info,
                   say("Runs are models per data set{} and policy, and the policies share the "
                       "confidence; \"runs needed\" is for a perfect attack, the columns after it "
                       "for weaker attacks at their expected rates.",
                       study.audit.random_pairs ? "" : ", pair"));
  }
  if (full) {
    document.state(StatementKind::info,
                   "No number of runs can certify that epsilon is below a value: audits refute, "
                   "proofs (sfumato quadratic, rows, bound) certify.");
  }
  if (answer.time) {
    add_time(document, answer, detail);
    if (full) state_speed(document, answer);
  }
  if (!full) {
    document.state(
        StatementKind::summary,
        say("More: {} (other thresholds), docs/study.md (what the columns mean).", More::all));
  }
  return document;
}

}  // namespace sfumato::lab
