#include "sfumato/rows/rows_tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "sfumato/rows/row_views.hpp"
#include "sfumato/rows/rows_fields.hpp"
#include "sfumato/rows/rows_words.hpp"

namespace sfumato {
namespace {

constexpr std::size_t kListed = 10, kListedInBrief = 5;
// Rows above the question's advantage, unless more are asked for.
constexpr std::size_t kMostAbove = 100;

std::size_t index_of(const RowRisk& risk) { return static_cast<std::size_t>(risk.row); }

/// The rows that the question asks to list (`otherwise` where it does not say): first those without which there
/// is no model, whose presence is plain, then by risk.
std::vector<const RowRisk*> listed(const RowsAnswer& answer, std::size_t otherwise) {
  const std::size_t top = answer.question.top
                              ? static_cast<std::size_t>(*answer.question.top)
                              : std::max(otherwise, std::min(answer.above.size(), kMostAbove));
  std::vector<const RowRisk*> rows;
  for (const RowRisk& risk : answer.risks) {
    if (risk.status == RowStatus::no_model && rows.size() < top) rows.push_back(&risk);
  }
  const std::vector<const RowRisk*> others = riskiest(answer.risks, top - rows.size());
  rows.insert(rows.end(), others.begin(), others.end());
  return rows;
}

/// "The 10 riskiest of 442 rows".
std::string title_of(const RowsAnswer& answer, std::size_t count) {
  const std::string of = count_of(answer.risks.size(), "row");
  if (!answer.above.empty() && answer.above.size() == count) {
    return fmt::format("The {} above an advantage of {}, of {}", count_of(count, "row"),
                       format_input(*answer.question.max_advantage), of);
  }
  return fmt::format("The {} riskiest of {}{}", count, of, at_noise(answer));
}

/// A row that a table lists; null is the median of all rows.
using Listed = const RowRisk*;

/// A number of a listed row: there is none where its removal leaves no model.
RowField<Listed> listed_field(const RowsAnswer& answer,
                              const RowField<RowRisk, RiskNumber>& field) {
  return with_getter<Listed, Cell>(
      field, [&answer, of = field.of, method = words_of_method(answer)](const Listed& risk) {
        if (risk == nullptr) return cell_of(quantile(answer.risks, of, 0.5), method);
        if (risk->status == RowStatus::no_model) {
          return Cell(
              Empty{"without this row there is no model, so its membership is revealed "
                    "outright"});
        }
        return cell_of(of(*risk), method);
      });
}

/// What names a row, and in full where it stands and what explains its risk.
RowFields<Listed> name_fields(const RowsAnswer& answer, Detail detail) {
  const bool full = detail == Detail::full;
  RowFields<Listed> list{{.key = "row",
                          .title = "row",
                          .of =
                              [](const Listed& risk) {
                                return risk == nullptr ? Cell("median") : Cell(risk->row + 1);
                              },
                          .align = full ? Align::automatic : Align::right}};
  if (!answer.ids.empty()) {
    list.push_back({.key = "id", .title = answer.question.id, .of = [&answer](const Listed& risk) {
                      return risk == nullptr ? Cell("") : Cell(answer.ids[index_of(*risk)]);
                    }});
  }
  if (!full) return list;
  list.push_back({.key = "line", .title = "line", .of = [&answer](const Listed& risk) {
                    return Cell(answer.lines[index_of(*risk)]);
                  }});
  for (const RowField<RowRisk, Claimed<double>>& trait : trait_fields(answer)) {
    list.push_back(with_getter<Listed, Cell>(
        trait, [of = trait.of](const Listed& risk) { return Cell(of(*risk)); }));
  }
  return list;
}

Table listed_table(const RowsAnswer& answer, const std::string& title,
                   const std::vector<Listed>& rows, Detail detail) {
  RowFields<Listed> fields = name_fields(answer, detail);
  const std::size_t names = fields.size();
  for (const auto& field : shown(risk_fields(answer), detail)) {
    fields.push_back(listed_field(answer, field));
  }
  return table_of("riskiest_rows", title, fields, rows, names);
}

struct Level {
  const char* title;
  double level;
};
constexpr Level kLevels[] = {{"0 % (minimum)", 0.0},  {"25 %", 0.25}, {"50 % (median)", 0.5},
                             {"75 %", 0.75},          {"95 %", 0.95}, {"99 %", 0.99},
                             {"100 % (maximum)", 1.0}};

/// A row's proven bound in one direction, beside the estimate.
struct CheckedDirection {
  const CheckedRow* row;
  const char* direction;
  const MonteCarloMean* estimate;
  RiskNumber bound;
};

template <class Number>
RowField<CheckedDirection> simulated_field(const char* key, const char* title, Number number) {
  return {.key = key, .title = title, .of = [number](const CheckedDirection& at) -> Cell {
            if (at.row->check.paths == 0) return Empty{at.row->check.reason};
            return number(at);
          }};
}

Claimed<double> simulated(double value) { return {value, Claim::estimate, "simulated paths"}; }

Table checks_table(const RowsAnswer& answer) {
  std::vector<CheckedDirection> rows;
  for (const CheckedRow& of : answer.checks) {
    rows.push_back({&of, "D||D'", &of.check.forward, of.risk.forward.kl});
    rows.push_back({&of, "D'||D", &of.check.reverse, of.risk.reverse.kl});
  }
  return table_of<CheckedDirection>(
      "checks", "Proven bounds on the KL beside simulated paths",
      {{.key = "row",
        .title = "row",
        .of = [](const CheckedDirection& at) { return Cell(at.row->risk.row + 1); }},
       {.key = "direction",
        .title = "direction",
        .of = [](const CheckedDirection& at) { return Cell(at.direction); }},
       {.key = "bound",
        .title = "KL, proven",
        .of = [](const CheckedDirection& at) { return cell_of(at.bound, "proven"); }},
       simulated_field("estimate", "simulated",
                       [](const CheckedDirection& at) { return simulated(at.estimate->value); }),
       simulated_field(
           "standard_error", "standard error",
           [](const CheckedDirection& at) { return simulated(at.estimate->standard_error); }),
       simulated_field("ratio", "proven / simulated",
                       [](const CheckedDirection& at) {
                         return at.estimate->value > 0.0
                                    ? Cell(simulated(at.bound.value / at.estimate->value))
                                    : Cell(Empty{"the gradients are equal along the paths"});
                       })},
      rows);
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

Table riskiest_rows(const RowsAnswer& answer, Detail detail) {
  const bool full = detail == Detail::full;
  std::vector<Listed> rows = listed(answer, full ? kListed : kListedInBrief);
  std::string title = title_of(answer, rows.size());
  if (!full) {
    title += ", each in its worse direction";
    if (!computed(answer.risks).empty()) rows.push_back(nullptr);
  }
  return listed_table(answer, title, rows, detail);
}

Table quantiles(const RowsAnswer& answer) {
  RowFields<Level> fields{{.key = "quantile", .title = "quantile", .of = [](const Level& level) {
                             return Cell(level.title);
                           }}};
  for (const auto& field : results_of(risk_fields(answer))) {
    fields.push_back(with_getter<Level, Cell>(
        field, [&answer, of = field.of, method = words_of_method(answer)](const Level& level) {
          return cell_of(quantile(answer.risks, of, level.level), method);
        }));
  }
  return table_of("quantiles",
                  "Distribution of the risk over " +
                      count_of(computed(answer.risks).size(), "row") + at_noise(answer) +
                      " (the worse direction of each)",
                  fields, kLevels);
}

Figure ranked(const RowsAnswer& answer) {
  constexpr std::size_t kMost = 400;
  const std::vector<const RowRisk*> rows = riskiest(answer.risks, answer.risks.size());
  Series series{"rows", "row", {}, {}, {}, Claim::exact, words_of_method(answer)};
  const double step = std::log(static_cast<double>(rows.size())) / static_cast<double>(kMost);
  double next = 0.0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const RiskNumber& advantage = rows[i]->advantage;
    const double rank = static_cast<double>(i + 1);
    const bool skipped = rows.size() > kMost && std::log(rank) < next && i + 1 < rows.size();
    if (skipped || std::isnan(advantage.value)) continue;
    next = std::log(rank) + step;
    if (advantage.claim != Claim::exact) series.claim = advantage.claim;
    series.x.push_back(rank);
    series.y.push_back(advantage.value);
    series.labels.push_back(fmt::format("row {}", rows[i]->row + 1));
  }
  Figure figure("ranked", "Advantage of every row" + at_noise(answer) + ", riskiest first",
                Mark::points, {"rank", "", Scale::log}, {"advantage"});
  const double last = series.x.empty() ? 1.0 : std::max(2.0, series.x.back());
  figure.add(std::move(series));
  if (answer.question.max_advantage) {
    Series limit{"limit", "largest that is allowed", {1.0, last}, {}, {}, Claim::exact};
    limit.y = {*answer.question.max_advantage, *answer.question.max_advantage};
    limit.mark = Mark::line;
    figure.add(std::move(limit));
  }
  figure.set_caption("A point is a row.");
  return figure;
}

void add_results(Document& document, const RowsAnswer& answer) {
  const std::string method = words_of_method(answer);
  for (const auto& field : results_of(risk_fields(answer))) {
    for (const RowRisk* risk : listed(answer, kListed)) {
      if (risk->status != RowStatus::ok) continue;
      std::vector<Subject> of{{"row", risk->row + 1}};
      if (!answer.ids.empty()) of.emplace_back("id", answer.ids[index_of(*risk)]);
      document.add_result(field.result, cell_of(field.of(*risk), method), std::move(of));
    }
    if (!computed(answer.risks).empty()) {
      document.add_result(field.result, cell_of(quantile(answer.risks, field.of, 0.5), method),
                          {{"quantile", 0.5}});
    }
  }
}

void add_checks(Document& document, const RowsAnswer& answer) {
  if (answer.checks.empty()) return;
  document.add_provenance("seed", fmt::format("{}", answer.question.seed));
  const RowCheck* example = nullptr;
  std::vector<std::string> unchecked;
  for (const CheckedRow& checked : answer.checks) {
    if (checked.check.paths > 0) {
      example = &checked.check;
    } else {
      unchecked.push_back(fmt::format("{} ({})", checked.risk.row + 1, checked.check.reason));
    }
  }
  document.add(checks_table(answer));
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
