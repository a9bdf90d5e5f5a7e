#include "sfumato/answers/rows/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sfumato/answers/rows/columns.hpp"
#include "sfumato/answers/rows/ranking.hpp"
#include "sfumato/answers/rows/words.hpp"

namespace sfumato {
namespace {

constexpr std::size_t kListed = 10;

std::vector<RiskNumber> sorted_values(const RowsAnswer& answer,
                                      const std::function<RiskNumber(const RowRisk&)>& of) {
  std::vector<RiskNumber> values;
  for (const RowRisk* risk : computed(answer.risks)) values.push_back(of(*risk));
  std::sort(values.begin(), values.end(),
            [](const RiskNumber& a, const RiskNumber& b) { return a.value < b.value; });
  return values;
}

RiskNumber quantile_of(const std::vector<RiskNumber>& sorted, double level) {
  const double position = std::ceil(level * static_cast<double>(sorted.size())) - 1.0;
  return sorted[static_cast<std::size_t>(std::max(0.0, position))];
}

}  // namespace

std::vector<const RowRisk*> listed(const RowsAnswer& answer, std::size_t otherwise) {
  const std::size_t top =
      answer.question.top ? static_cast<std::size_t>(*answer.question.top) : otherwise;
  std::vector<const RowRisk*> rows;
  for (const RowRisk& risk : answer.risks) {
    if (risk.status == RowStatus::no_model && rows.size() < top) rows.push_back(&risk);
  }
  const std::vector<const RowRisk*> others = riskiest(answer.risks, top - rows.size());
  rows.insert(rows.end(), others.begin(), others.end());
  return rows;
}

std::string title_of(const RowsAnswer& answer, std::size_t count) {
  return fmt::format("The {} riskiest of {}", count, count_of(answer.risks.size(), "row"));
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
      cells.emplace_back(Claimed<double>{trait.of(*risk), Claim::exact, trait.method});
    }
    for (const RiskColumn& column : list) {
      if (risk->status == RowStatus::no_model) {
        cells.emplace_back(Empty{"without this row there is no model: its presence is plain"});
      } else {
        cells.push_back(cell_of(column.of(*risk), method));
      }
    }
    table.add_row(std::move(cells));
  }
  return table;
}

RiskNumber quantile(const RowsAnswer& answer, const std::function<RiskNumber(const RowRisk&)>& of,
                    double level) {
  return quantile_of(sorted_values(answer, of), level);
}

Table quantiles(const RowsAnswer& answer) {
  const std::vector<RiskColumn> list = worse_columns(answer);
  std::vector<Column> columns{{"quantile", "of rows at most"}};
  std::vector<std::vector<RiskNumber>> sorted;
  for (const RiskColumn& column : list) {
    columns.push_back({column.key, column.title, "", column.style});
    sorted.push_back(sorted_values(answer, column.of));
  }
  Table table("quantiles",
              "How the risk is spread over " + count_of(sorted.front().size(), "row") +
                  " (the worse direction of each)",
              std::move(columns));
  const std::string method = words_of_method(answer);
  for (const auto& [label, level] : {std::pair{"0 % (least)", 0.0},
                                     {"25 %", 0.25},
                                     {"50 % (median)", 0.5},
                                     {"75 %", 0.75},
                                     {"95 %", 0.95},
                                     {"99 %", 0.99},
                                     {"100 % (largest)", 1.0}}) {
    std::vector<Cell> cells{label};
    for (const auto& values : sorted) cells.push_back(cell_of(quantile_of(values, level), method));
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
  Figure figure("ranked", "Advantage of every row, riskiest first", Mark::points,
                {"rank", "", Scale::log}, {"advantage"});
  figure.add(std::move(series));
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
      document.add_result(column.key, cell_of(quantile(answer, column.of, 0.5), method),
                          {{"quantile", 0.5}});
    }
  }
}

}  // namespace sfumato
