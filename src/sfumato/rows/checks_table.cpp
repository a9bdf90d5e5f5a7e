#include "sfumato/rows/checks_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>

#include "sfumato/report/number.hpp"

namespace sfumato {
namespace {

void add_direction(Table& table, const CheckedRow& checked, const char* direction,
                   const MonteCarloMean& estimate, const RiskNumber& bound) {
  std::vector<Cell> cells{checked.risk.row + 1, std::string(direction),
                          Claimed<double>{bound.value, bound.claim, "proven"}};
  if (checked.check.paths == 0) {
    const Empty none{checked.check.reason};
    cells.insert(cells.end(), {none, none, none});
  } else {
    const Claim claim = Claim::estimate;
    const char* method = "simulated paths";
    cells.emplace_back(Claimed<double>{estimate.value, claim, method});
    cells.emplace_back(Claimed<double>{estimate.standard_error, claim, method});
    if (estimate.value > 0.0) {
      cells.emplace_back(Claimed<double>{bound.value / estimate.value, claim, method});
    } else {
      cells.emplace_back(Empty{"the gradients are equal along the paths"});
    }
  }
  table.add_row(std::move(cells));
}

std::string words_of(const RowCheck& check) {
  const std::string paths =
      fmt::format("{} paths of {} step{}", check.paths, check.steps, check.steps == 1 ? "" : "s");
  return check.stationary
             ? fmt::format(
                   "{} that start near the stationary distribution (its normal approximation at "
                   "the minimiser) and cover a training time of {}, five relaxation times",
                   paths, format_input(check.horizon))
             : fmt::format("{} from the start", paths);
}

}  // namespace

void add_checks(Document& document, const RowsAnswer& answer) {
  if (answer.checks.empty()) return;
  document.add_provenance("seed", fmt::format("{}", answer.question.seed));
  Table table("checks", "Proven bounds on the KL beside simulated paths",
              {{"row", "row"},
               {"direction", "direction"},
               {"bound", "KL, proven"},
               {"estimate", "simulated"},
               {"standard_error", "standard error"},
               {"ratio", "proven / simulated"}});
  const RowCheck* example = nullptr;
  std::vector<std::string> unchecked;
  for (const CheckedRow& checked : answer.checks) {
    add_direction(table, checked, "D||D'", checked.check.forward, checked.risk.forward.kl);
    add_direction(table, checked, "D'||D", checked.check.reverse, checked.risk.reverse.kl);
    if (checked.check.paths > 0) {
      example = &checked.check;
    } else {
      unchecked.push_back(fmt::format("{} ({})", checked.risk.row + 1, checked.check.reason));
    }
  }
  document.add(std::move(table));
  if (example != nullptr) {
    document.state(
        StatementKind::info,
        fmt::format("The simulated column estimates the same bound with the true gradient "
                    "differences instead of constants ({}). The KL itself is even smaller: {}.",
                    words_of(*example),
                    example->stationary
                        ? "a ratio below 1 shows what the curvature near the minimiser gains"
                        : "the ratio shows the slack of the constants alone"));
  }
  if (!unchecked.empty()) {
    document.state(StatementKind::warning,
                   fmt::format("not checked by simulation: row{} {}.",
                               unchecked.size() == 1 ? "" : "s", fmt::join(unchecked, ", ")));
  }
}

void add_check_verdict(Document& document, const RowsAnswer& answer) {
  std::vector<Eigen::Index> violated;
  for (const CheckedRow& checked : answer.checks) {
    const Verdict verdict = checked.verdict();
    CheckedClaim claim;
    claim.claim = fmt::format("KL bounds of row {}", checked.risk.row + 1);
    claim.outcome = verdict;
    document.add_verdict(std::move(claim));
    if (verdict == Verdict::violated) violated.push_back(checked.risk.row + 1);
  }
  if (violated.empty()) return;
  document.state(
      StatementKind::warning,
      fmt::format("CHECK FAILED for row{} {}: the estimate is more than {} standard errors above "
                  "a proven bound. Do not trust the bounds of this run, and please report it.",
                  violated.size() == 1 ? "" : "s", fmt::join(violated, ", "), kAllowedErrors));
}

}  // namespace sfumato
