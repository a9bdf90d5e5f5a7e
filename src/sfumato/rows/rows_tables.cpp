#include "sfumato/rows/rows_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sfumato/rows/ranking.hpp"
#include "sfumato/rows/rows_columns.hpp"
#include "sfumato/rows/rows_words.hpp"

namespace sfumato {
namespace {

constexpr std::size_t kListed = 10;
constexpr std::size_t kMostAbove =
    100;  // rows above the question's advantage, unless more are asked for

}  // namespace

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

std::string title_of(const RowsAnswer& answer, std::size_t count) {
  const std::string of = count_of(answer.risks.size(), "row");
  if (!answer.above.empty() && answer.above.size() == count) {
    return fmt::format("The {} above an advantage of {}, of {}", count_of(count, "row"),
                       format_input(*answer.question.max_advantage), of);
  }
  return fmt::format("The {} riskiest of {}{}", count, of, at_noise(answer));
}

Table riskiest_rows(const RowsAnswer& answer) {
  const std::vector<RiskColumn> list = all_columns(answer);
  const std::vector<TraitColumn> traits = trait_columns(answer);
  const bool named = !answer.ids.empty();
  std::vector<Column> columns{{"row", "row"}};
  if (named) columns.push_back({"id", answer.question.id});
  columns.push_back({"line", "line"});
  for (const TraitColumn& trait : traits) columns.push_back({trait.key, trait.title});
  const std::size_t fixed = columns.size();
  for (const RiskColumn& column : list) {
    columns.push_back({column.key, column.title, "", column.style});
  }
  const std::vector<const RowRisk*> rows = listed(answer, kListed);
  Table table("riskiest_rows", title_of(answer, rows.size()), std::move(columns), fixed);
  const std::string method = words_of_method(answer);
  for (const RowRisk* risk : rows) {
    const auto at = static_cast<std::size_t>(risk->row);
    std::vector<Cell> cells{risk->row + 1};
    if (named) cells.emplace_back(answer.ids[at]);
    cells.emplace_back(answer.lines[at]);
    for (const TraitColumn& trait : traits) {
      const RiskNumber number = trait.of(*risk);
      cells.emplace_back(Claimed<double>{number.value, number.claim, trait.method});
    }
    for (const RiskColumn& column : list) {
      if (risk->status == RowStatus::no_model) {
        cells.emplace_back(
            Empty{"without this row there is no model, so its membership is "
                  "revealed outright"});
      } else {
        cells.push_back(cell_of(column.of(*risk), method));
      }
    }
    table.add_row(std::move(cells));
  }
  return table;
}

Table quantiles(const RowsAnswer& answer) {
  const std::vector<RiskColumn> list = worse_columns(answer);
  std::vector<Column> columns{{"quantile", "quantile"}};
  for (const RiskColumn& column : list) {
    columns.push_back({column.key, column.title, "", column.style});
  }
  Table table("quantiles",
              "Distribution of the risk over " + count_of(computed(answer.risks).size(), "row") +
                  at_noise(answer) + " (the worse direction of each)",
              std::move(columns));
  const std::string method = words_of_method(answer);
  for (const auto& [label, level] : {std::pair{"0 % (minimum)", 0.0},
                                     {"25 %", 0.25},
                                     {"50 % (median)", 0.5},
                                     {"75 %", 0.75},
                                     {"95 %", 0.95},
                                     {"99 %", 0.99},
                                     {"100 % (maximum)", 1.0}}) {
    std::vector<Cell> cells{label};
    for (const RiskColumn& column : list) {
      cells.push_back(cell_of(quantile(answer.risks, column.of, level), method));
    }
    table.add_row(std::move(cells));
  }
  return table;
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
  for (const RiskColumn& column : worse_columns(answer)) {
    for (const RowRisk* risk : listed(answer, kListed)) {
      if (risk->status != RowStatus::ok) continue;
      std::vector<std::pair<std::string, Cell>> of{{"row", risk->row + 1}};
      if (!answer.ids.empty())
        of.emplace_back("id", answer.ids[static_cast<std::size_t>(risk->row)]);
      document.add_result(column.key, cell_of(column.of(*risk), method), std::move(of));
    }
    if (!computed(answer.risks).empty()) {
      document.add_result(column.key, cell_of(quantile(answer.risks, column.of, 0.5), method),
                          {{"quantile", 0.5}});
    }
  }
}

}  // namespace sfumato
