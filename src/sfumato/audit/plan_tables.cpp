#include "sfumato/audit/plan_tables.hpp"

#include <fmt/format.h>

#include "sfumato/report/confidence.hpp"

namespace sfumato {
namespace {

Cell runs_cell(const std::optional<std::uint64_t>& runs) {
  return runs ? Cell(*runs) : Cell(Empty{"more than 10 million: this attack does not show it"});
}

/// The maximum of the planned models, if they are settled, and how many are needed.
Table maxima_table(const ClaimPlan& plan, double confidence, const std::string& key,
                   Detail detail) {
  const bool full = detail == Detail::full;
  const bool settled = plan.models.per_world != 0;
  std::vector<Column> columns;
  if (full) columns.push_back({"thresholds", "thresholds"});
  if (settled) {
    columns.push_back({"runs", full ? "runs planned" : "planned"});
    columns.push_back({"maximum", full ? "can show at most" : "can show"});
  }
  columns.push_back({"perfect", full ? "runs needed" : "needed"});
  columns.push_back({"half", "TPR 50 %, FPR 1 %"});
  columns.push_back({"tenth", "TPR 10 %, FPR 0.1 %"});
  Table table(key,
              fmt::format("To show more than eps = {:g} at delta = {:g}, confidence {}",
                          plan.claim.epsilon.nats(), plan.claim.delta.probability(),
                          format_confidence(confidence)),
              columns);
  for (const ThresholdPlan& row : plan.plans) {
    std::vector<Cell> cells;
    if (full) cells.emplace_back(name(row.strategy));
    if (settled) {
      cells.emplace_back(plan.models.per_world);
      cells.emplace_back(*row.maximum);
    }
    cells.push_back(runs_cell(row.needed.perfect));
    cells.push_back(runs_cell(row.needed.half));
    cells.push_back(runs_cell(row.needed.tenth));
    table.add_row(std::move(cells));
    if (!full) break;
  }
  return table;
}

void state_enough(Document& document, const ClaimPlan& plan) {
  const double epsilon = plan.claim.epsilon.nats(), maximum = plan.plans.front().maximum->value;
  if (plan.enough()) {
    document.state(StatementKind::info,
                   fmt::format("The planned runs can refute eps = {:g}: an attack that never "
                               "errs would show {:.3f}.",
                               epsilon, maximum));
  } else {
    document.state(
        StatementKind::warning,
        fmt::format("NOT ENOUGH RUNS to refute eps = {:g}: not even an attack that never errs "
                    "would show more than {:.3f}.",
                    epsilon, maximum));
  }
}

}  // namespace

void add_claim_plan(Document& document, const ClaimPlan& plan, double confidence,
                    const std::string& key, Detail detail) {
  if (plan.models.per_world != 0) state_enough(document, plan);
  document.add(maxima_table(plan, confidence, key, detail));
  for (const ThresholdPlan& row : plan.plans) {
    const std::vector<std::pair<std::string, Cell>> of = {{"eps", plan.claim.epsilon.nats()},
                                                          {"delta", plan.claim.delta.probability()},
                                                          {"thresholds", name(row.strategy)}};
    if (row.maximum) document.add_result("maximum_auditable_epsilon", *row.maximum, of);
    document.add_result("runs_needed", runs_cell(row.needed.perfect), of);
  }
}

}  // namespace sfumato
