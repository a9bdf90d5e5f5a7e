#include "sfumato/answers/rows/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sfumato/answers/rows/ranking.hpp"
#include "sfumato/answers/rows/words.hpp"
#include "sfumato/data/csv_writer.hpp"
#include "sfumato/report/histogram.hpp"

namespace sfumato {
namespace {

std::vector<View> views_of(const RowsQuestion& question) {
  return views(question.risk, question.model == RowsModel::logistic);
}

Cell cell_of(const RiskNumber& number, const std::string& method) {
  if (std::isnan(number.value)) return Empty{"nothing is proven"};
  return Claimed<double>{number.value, number.claim, method};
}

/// Rows without which there is no model come first: their presence is plain.
Table riskiest_rows(const RowsQuestion& question, const RegressionInput& input,
                    const std::vector<RowRisk>& all, const std::vector<Trait>& traits) {
  const std::vector<View> list = views_of(question);
  std::vector<Column> columns{{"row", "row"}, {"line", "line"}};
  for (const Trait& trait : traits) columns.push_back({trait.key, trait.title});
  const std::size_t fixed = columns.size();
  for (const View& view : list) columns.push_back({view.key, view.title, "", view.style});
  std::vector<const RowRisk*> plain;
  for (const RowRisk& risk : all) {
    if (risk.status == RowStatus::no_model) plain.push_back(&risk);
  }
  if (plain.size() > question.top) plain.resize(question.top);
  const std::vector<const RowRisk*> rows = riskiest(all, question.top - plain.size());
  Table table(
      "riskiest_rows",
      fmt::format("The {} riskiest of {}", rows.size() + plain.size(), count_of(all.size(), "row")),
      std::move(columns), fixed);
  const std::string method = words_of_method(question);
  const auto begin_row = [&](const RowRisk& risk) {
    std::vector<Cell> cells{risk.row + 1, input.lines[static_cast<std::size_t>(risk.row)]};
    for (const Trait& trait : traits) {
      cells.emplace_back(Claimed<double>{trait.of(risk), Claim::exact, trait.method});
    }
    return cells;
  };
  for (const RowRisk* risk : plain) {
    std::vector<Cell> cells = begin_row(*risk);
    for (std::size_t k = 0; k < list.size(); ++k) {
      cells.emplace_back(Empty{"without this row there is no model: its presence is plain"});
    }
    table.add_row(std::move(cells));
  }
  for (const RowRisk* risk : rows) {
    std::vector<Cell> cells = begin_row(*risk);
    for (const View& view : list) cells.push_back(cell_of(view.of(*risk), method));
    table.add_row(std::move(cells));
  }
  return table;
}

Table quantiles(const RowsQuestion& question, const std::vector<const RowRisk*>& rows) {
  const std::vector<View> list = worst_views(question.risk);
  std::vector<Column> columns{{"quantile", "of rows at most"}};
  for (const View& view : list) columns.push_back({view.key, view.title, "", view.style});
  Table table("quantiles",
              "How the risk is spread over " + count_of(rows.size(), "row") +
                  " (the worse direction of each)",
              std::move(columns));
  const std::string method = words_of_method(question);
  std::vector<std::vector<RiskNumber>> sorted;
  for (const View& view : list) {
    std::vector<RiskNumber> values;
    values.reserve(rows.size());
    for (const RowRisk* risk : rows) values.push_back(view.of(*risk));
    std::sort(values.begin(), values.end(),
              [](const RiskNumber& a, const RiskNumber& b) { return a.value < b.value; });
    sorted.push_back(std::move(values));
  }
  for (const auto& [label, level] : {std::pair{"0 % (least)", 0.0},
                                     {"25 %", 0.25},
                                     {"50 % (median)", 0.5},
                                     {"75 %", 0.75},
                                     {"95 %", 0.95},
                                     {"99 %", 0.99},
                                     {"100 % (largest)", 1.0}}) {
    std::vector<Cell> cells{label};
    for (const auto& values : sorted) {
      // The smallest value that at least `level` of the rows do not exceed: no interpolation, so
      // that every quantile is the risk of some row.
      const double position = std::ceil(level * static_cast<double>(values.size())) - 1.0;
      cells.push_back(cell_of(values[static_cast<std::size_t>(std::max(0.0, position))], method));
    }
    table.add_row(std::move(cells));
  }
  return table;
}

/// The advantage of every row, riskiest first; of many rows, those whose ranks are evenly spread on a
/// logarithmic axis.
Figure ranked(const RowsQuestion& question, const std::vector<RowRisk>& all) {
  constexpr std::size_t kMost = 400;
  const std::vector<const RowRisk*> rows = riskiest(all, all.size());
  Series series{"rows", "row", {}, {}, {}, Claim::exact, words_of_method(question)};
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

void add_exceptions(Document& document, const RowsQuestion& question,
                    const std::vector<RowRisk>& risks) {
  std::size_t no_model = 0;
  std::size_t failed = 0;
  std::size_t missing = 0;
  const RowRisk* example = nullptr;
  for (const RowRisk& risk : risks) {
    if (risk.status == RowStatus::no_model) ++no_model;
    if (risk.status == RowStatus::not_computed) ++missing;
    if (risk.status == RowStatus::failed) {
      ++failed;
      if (example == nullptr) example = &risk;
    }
  }
  if (no_model > 0) {
    document.state(
        StatementKind::warning,
        fmt::format("{} cannot be left out: without such a row {}, so there is no model to "
                    "compare with and its presence is plain. {}.",
                    count_of(no_model, "row"),
                    question.model == RowsModel::ridge
                        ? "some parameter is not determined"
                        : "no minimiser can be certified (a plane may separate the "
                          "classes, or features determine others)",
                    question.ridge.ridge > 0.0 ? "Use a stronger --ridge" : "Add --ridge"));
  }
  if (failed > 0) {
    document.state(StatementKind::warning,
                   fmt::format("no trustworthy number for {}, such as row {}: {}",
                               count_of(failed, "row"), example->row + 1, example->message));
  }
  if (missing > 0) {
    document.state(StatementKind::warning,
                   fmt::format("stopped early: {} of {} rows were not computed, and the tables "
                               "above speak of the others only.",
                               missing, risks.size()));
  }
}

}  // namespace

void add_row_risks(Document& document, const RowsQuestion& question, const RegressionInput& input,
                   const std::vector<RowRisk>& risks, const std::vector<Trait>& traits) {
  document.state(StatementKind::info, words_of_model(question, input));
  document.state(StatementKind::info, words_of_release(question.risk.release));
  document.state(
      StatementKind::info,
      question.risk.replacement
          ? fmt::format("D' has the record of {} in place of the row.", question.replacement_file)
          : std::string("D' is the table without the row."));
  const std::vector<const RowRisk*> rows = computed(risks);
  document.add(riskiest_rows(question, input, risks, traits));
  if (!rows.empty()) {
    document.add(quantiles(question, rows));
    std::vector<double> advantages;
    advantages.reserve(rows.size());
    for (const RowRisk* risk : rows) advantages.push_back(risk->advantage.value);
    document.add(
        histogram("advantage", "Membership advantage over the rows",
                  {question.model == RowsModel::ridge ? "advantage of the best attack"
                                                      : "bound on the advantage of any attack",
                   "", Scale::linear},
                  advantages));
    document.add(ranked(question, risks));
  }
  add_exceptions(document, question, risks);
}

void write_row_risks(const std::string& path, const RowsQuestion& question,
                     const RegressionInput& input, const std::vector<RowRisk>& risks,
                     const std::vector<Trait>& traits) {
  const std::vector<View> list = views_of(question);
  std::vector<std::string> columns{"row", "line", "status"};
  for (const Trait& trait : traits) columns.push_back(trait.key);
  for (const View& view : list) columns.push_back(view.key);
  columns.emplace_back("claim");
  CsvWriter out(path, columns);
  for (const RowRisk& risk : risks) {
    const auto line = static_cast<std::int64_t>(input.lines[static_cast<std::size_t>(risk.row)]);
    out.integer(risk.row + 1).integer(line).text(name(risk.status));
    const bool known = risk.status == RowStatus::ok;
    for (const Trait& trait : traits) known ? out.number(trait.of(risk)) : out.text("");
    Claim claim = Claim::exact;
    for (const View& view : list) {
      if (!known) {
        out.text("");
        continue;
      }
      const RiskNumber number = view.of(risk);
      if (!std::isnan(number.value) && number.claim != Claim::exact) claim = number.claim;
      std::isnan(number.value) ? out.text("") : out.number(number.value);
    }
    out.text(known ? name(claim) : "").end_row();
  }
  out.commit();
}

}  // namespace sfumato
