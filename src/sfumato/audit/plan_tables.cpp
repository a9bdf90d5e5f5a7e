#include "sfumato/audit/plan_tables.hpp"

#include <fmt/format.h>

#include "sfumato/report/confidence.hpp"
#include "sfumato/report/row_field.hpp"

namespace sfumato {
namespace {

Cell runs_cell(const std::optional<std::uint64_t>& runs) {
  return runs ? Cell(*runs) : Cell(Empty{"more than 10 million: this attack does not show it"});
}

/// The maximum of the planned models, if they are settled, and how many are needed.
RowFields<ThresholdPlan> plan_fields(const ClaimPlan& plan, Detail detail) {
  const bool full = detail == Detail::full;
  const bool settled = plan.models.per_world != 0;
  const std::uint64_t planned = plan.models.per_world;
  const auto runs = [](auto attack) {
    return [attack](const ThresholdPlan& row) { return runs_cell(row.needed.*attack); };
  };
  return {
      {.key = "thresholds",
       .title = "thresholds",
       .of = [](const ThresholdPlan& row) { return Cell(name(row.strategy)); }},
      {.key = "runs",
       .title = full ? "runs planned" : "planned",
       .of = [planned](const ThresholdPlan&) { return Cell(planned); },
       .full = settled,
       .brief = settled ? 1 : 0},
      {.key = "maximum",
       .title = full ? "can show at most" : "can show",
       .of =
           [](const ThresholdPlan& row) {
             return row.maximum ? Cell(*row.maximum) : Cell(Empty{});
           },
       .full = settled,
       .brief = settled ? 2 : 0,
       .result = settled ? "maximum_auditable_epsilon" : ""},
      {.key = "perfect",
       .title = full ? "runs needed" : "needed",
       .of = runs(&RunsNeeded::perfect),
       .brief = 3,
       .result = "runs_needed"},
      {.key = "half", .title = "TPR 50 %, FPR 1 %", .of = runs(&RunsNeeded::half), .brief = 4},
      {.key = "tenth", .title = "TPR 10 %, FPR 0.1 %", .of = runs(&RunsNeeded::tenth), .brief = 5}};
}

Table maxima_table(const ClaimPlan& plan, double confidence, const std::string& key,
                   Detail detail) {
  std::vector<ThresholdPlan> rows = plan.plans;
  if (detail == Detail::brief) rows.resize(1, rows.front());
  return table_of(key,
                  fmt::format("To show more than eps = {:g} at delta = {:g}, confidence {}",
                              plan.claim.epsilon.nats(), plan.claim.delta.probability(),
                              format_confidence(confidence)),
                  shown(plan_fields(plan, detail), detail), rows);
}

void state_enough(Document& document, const ClaimPlan& plan) {
  const Maths claimed{fmt::format("eps = {:g}", plan.claim.epsilon.nats())};
  const std::string maximum = fmt::format("{:.3f}", plan.plans.front().maximum->value);
  if (plan.enough()) {
    document.state(StatementKind::info,
                   say("The planned runs can refute {}: an attack that never errs would show {}.",
                       claimed, maximum));
  } else {
    document.state(StatementKind::warning,
                   say("NOT ENOUGH RUNS to refute {}: not even an attack that never errs would "
                       "show more than {}.",
                       claimed, maximum));
  }
}

}  // namespace

void add_claim_plan(Document& document, const ClaimPlan& plan, double confidence,
                    const std::string& key, Detail detail) {
  if (plan.models.per_world != 0) state_enough(document, plan);
  document.add(maxima_table(plan, confidence, key, detail));
  for (const ThresholdPlan& row : plan.plans) {
    std::vector<Subject> of;
    of.emplace_back("eps", plan.claim.epsilon.nats());
    of.emplace_back("delta", plan.claim.delta.probability());
    of.emplace_back("thresholds", name(row.strategy));
    add_results(document, plan_fields(plan, detail), row, of, Missing::stated);
  }
}

}  // namespace sfumato
