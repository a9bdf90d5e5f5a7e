#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reproduce/json_value.hpp"
#include "reproduce/part.hpp"
#include "reproduce/readings/columns.hpp"
#include "reproduce/readings/conclusions.hpp"
#include "reproduce/readings/search.hpp"
#include "sfumato/report/csv_export.hpp"

namespace sfumato::apps {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kShown = 8;           ///< readings of the ranking
constexpr std::size_t kEarlierSearch = 73;  ///< readings looked at before the grid was declared
constexpr double kLevel = 0.05;

std::string block_key(const ReadingSearch& search, const char* block) {
  std::string key = fmt::format("readings_{}_{}", name(search.table), block);
  std::replace(key.begin(), key.end(), '.', '_');
  return key;
}

/// Tables and figures of several searches stand in one chapter, so that each says whose it is.
std::string titled(const ReadingSearch& search, const std::string& words) {
  return fmt::format("{}: {}", title(search.table), words);
}

std::string size_text(const SearchSize& size) {
  return fmt::format("{} x {} pairs and replicas, seeds {}", size.pairs, size.replicas, size.seed);
}

/// The reading as it was judged when it was chosen.
const JudgedReading& as_selected(const ReadingSearch& search, const Reading& reading) {
  return *std::find_if(search.tried.begin(), search.tried.end(),
                       [&](const JudgedReading& judged) { return judged.reading == reading; });
}

Table comparison_table(const ReadingSearch& search) {
  Table table(
      block_key(search, "paper"),
      titled(search, "the printed numbers, as the literal and the closest reading give them"),
      {{"number", "number"},
       {"paper", "paper"},
       {"literal", "literal"},
       {"literal_interval", "95 %"},
       {"selected", "closest, chosen on"},
       {"closest", "closest, fresh"},
       {"closest_interval", "95 %"}});
  const JudgedReading& closest = search.closest();
  const JudgedReading& selected = as_selected(search, closest.reading);
  const JudgedReading* literal = search.literal();
  const std::vector<NumberFit>& numbers = selected.fit->numbers;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    table.add_row({numbers[i].number.name, numbers[i].number.printed,
                   literal == nullptr ? Cell(Empty{"takes minutes: --scale paper"})
                                      : centre_cell(*literal, i),
                   literal == nullptr ? Cell(Empty{}) : interval_cell(*literal, i),
                   centre_cell(selected, i), centre_cell(closest, i), interval_cell(closest, i)});
  }
  return table;
}

Claimed<double> distance_of(const ReadingDistance& fit) {
  return {fit.distance, Claim::estimate,
          "sum over the printed numbers of |log10(simulated median / printed)|"};
}

Claimed<double> simulated(double value) {
  return {value, Claim::estimate, "over simulated runs of the paper's size"};
}

Table ranking_table(const ReadingSearch& search) {
  Table table(
      block_key(search, "ranking"),
      titled(search, fmt::format("the closest of {} readings, and the literal one, on the models "
                                 "they were chosen on ({})",
                                 search.tried.size(), size_text(search.selection))),
      {{"rank", "rank"},
       {"reading", "reading"},
       {"distance", "distance"},
       {"chance", "by chance"},
       {"p_value", "p"},
       {"trials", "trials"}},
      2);
  for (std::size_t i = 0; i < search.tried.size(); ++i) {
    const JudgedReading& judged = search.tried[i];
    const bool literal = judged.reading == Reading{};
    if (i >= kShown && !literal) continue;
    const std::string what = (literal ? "literal: " : "") + text(judged.reading, search.table);
    if (!judged.fit) {
      table.add_row({i + 1, what, Empty{"every model diverged"}, Empty{}, Empty{}, Empty{}});
      continue;
    }
    table.add_row({i + 1, what, distance_of(*judged.fit), simulated(judged.fit->chance),
                   simulated(judged.fit->p_value), judged.fit->trials});
  }
  return table;
}

Table confirmed_table(const ReadingSearch& search) {
  Table table(
      block_key(search, "confirmed"),
      titled(search, fmt::format("the same readings on fresh records and seeds, which had no "
                                 "part in the choice ({})",
                                 size_text(search.confirmation))),
      {{"reading", "reading"},
       {"selected", "distance, chosen on"},
       {"distance", "fresh"},
       {"interval", "95 %"},
       {"chance", "by chance"},
       {"p_value", "p"},
       {"trials", "trials"}});
  for (const JudgedReading& judged : search.confirmed) {
    const JudgedReading& before = as_selected(search, judged.reading);
    const std::string what = text(judged.reading, search.table);
    if (!judged.fit) {
      table.add_row({what, distance_of(*before.fit), Empty{"every model diverged"}, Empty{},
                     Empty{}, Empty{}, Empty{}});
      continue;
    }
    table.add_row({what, distance_of(*before.fit), distance_of(*judged.fit),
                   fmt::format("{:.2f} .. {:.2f}", judged.fit->lower, judged.fit->upper),
                   simulated(judged.fit->chance), simulated(judged.fit->p_value),
                   judged.fit->trials});
  }
  return table;
}

Table equal_steps_table(const ReadingSearch& search, const std::vector<EqualStepsRow>& rows) {
  Table table(block_key(search, "equal_steps"),
              titled(search,
                     "batches of 500 less batches of 1,000 at equal numbers of steps, mean "
                     "over pairs"),
              {{"reading", "training"},
               {"epsilon", "eps"},
               {"difference", "difference"},
               {"standard_error", "std. error"}},
              2);
  for (const EqualStepsRow& row : rows) {
    table.add_row({text(row.training), row.epsilon,
                   Claimed<double>{row.difference, Claim::estimate,
                                   "mean of the paper's statistic over pairs"},
                   std::isfinite(row.standard_error) ? Cell(row.standard_error) : Cell(Empty{})});
  }
  return table;
}

/// Paper, literal and closest reading, number by number.
Figure numbers_figure(const ReadingSearch& search) {
  const JudgedReading& closest = search.closest();
  std::vector<std::string> names;
  for (const NumberFit& fit : as_selected(search, closest.reading).fit->numbers) {
    names.push_back(fit.number.name);
  }
  Figure figure(block_key(search, "numbers"),
                titled(search, "what each reading gives for the printed numbers"), Mark::points,
                Axis{"", "", Scale::linear, names}, Axis{"number", "", Scale::log});
  Series printed{"paper", "paper", {}, {}, {}, Claim::exact, "as printed"};
  const auto add = [&](const char* key, const char* title, const JudgedReading& judged) {
    if (!judged.fit) return;
    Series series{key, title, {}, {}, {}, Claim::estimate, "median and 95 % of simulated runs"};
    Intervals intervals;
    for (std::size_t i = 0; i < judged.fit->numbers.size(); ++i) {
      const NumberFit& fit = judged.fit->numbers[i];
      series.x.push_back(static_cast<double>(i));
      series.y.push_back(fit.centre);
      intervals.low.push_back(std::min(fit.lower, fit.centre));
      intervals.high.push_back(std::max(fit.upper, fit.centre));
    }
    series.y_intervals = std::move(intervals);
    figure.add(std::move(series));
  };
  for (const NumberFit& fit : as_selected(search, closest.reading).fit->numbers) {
    printed.x.push_back(static_cast<double>(printed.x.size()));
    printed.y.push_back(fit.number.printed);
  }
  figure.add(std::move(printed));
  if (const JudgedReading* literal = search.literal()) add("literal", "literal reading", *literal);
  add("closest", "closest reading, fresh models", closest);
  figure.set_caption(
      "Bars: where 95 % of runs of the paper's size would be, simulated from the trained models.");
  return figure;
}

std::string search_text() {
  return fmt::format(
      "Readings were declared for each table and judged on a few models; the closest were trained "
      "again on other records with other seeds. A search of {} readings on still other seeds had "
      "looked at the same printed numbers before, and the grids follow it: a distance on fresh "
      "models is free of luck in the models, not of that choice. The more readings are tried, the "
      "more easily one fits by chance; p is that of one reading alone.",
      kEarlierSearch);
}

Json judged_json(const ReadingSearch& search, const JudgedReading& judged) {
  Json json = {{"reading", text(judged.reading, search.table)}};
  if (!judged.fit) {
    json["diverged"] = true;
    return json;
  }
  const ReadingDistance& fit = *judged.fit;
  json["distance"] = fit.distance;
  json["interval"] = json_interval(fit.lower, fit.upper);
  json["by_chance"] = fit.chance;
  json["p_value"] = fit.p_value;
  json["trials"] = fit.trials;
  for (const NumberFit& number : fit.numbers) {
    json["numbers"][number.number.name] = {{"centre", number.centre},
                                           {"interval", json_interval(number.lower, number.upper)}};
  }
  for (const Conclusion& conclusion : conclusions_of(search.table, judged)) {
    json["conclusions"][conclusion.key] = {
        {"statement", conclusion.statement},
        {"follows", conclusion.holds ? Json(*conclusion.holds) : Json(nullptr)},
        {"evidence", conclusion.evidence}};
  }
  return json;
}

Finding explained(const ReadingSearch& search) {
  const JudgedReading& closest = search.closest();
  const std::string statement =
      fmt::format("a declared reading explains the numbers of {}",
                  search.table == PaperTable::membership ? "the membership figure"
                                                         : std::string(title(search.table)));
  if (!closest.fit) {
    return {"explained", statement, PaperVerdict::does_not_hold, "fresh models",
            "Every model of the closest reading diverged."};
  }
  const ReadingDistance& fit = *closest.fit;
  const bool unsure = fit.trials < 4 * search.confirmed.front().models->size();
  const JudgedReading* literal = search.literal();
  return {"explained", statement,
          fit.p_value >= kLevel ? (unsure ? PaperVerdict::depends : PaperVerdict::holds)
                                : PaperVerdict::does_not_hold,
          fmt::format("1 of {} readings, fresh models", search.tried.size()),
          fmt::format("{}: distance {:.2f} ({:.2f} .. {:.2f}), {:.2f} by chance, p = {:.2g}{}.",
                      text(closest.reading, search.table), fit.distance, fit.lower, fit.upper,
                      fit.chance, fit.p_value,
                      literal != nullptr && literal->fit
                          ? fmt::format("; the literal reading has {:.2f}", literal->fit->distance)
                          : "")};
}

std::optional<PartResult> reproduce_readings(const PartContext& context, PaperTable table) {
  const auto search = search_readings(context, table);
  if (!search) return std::nullopt;
  PartResult result;
  result.blocks.emplace_back(Statement{StatementKind::info, search_text()});
  result.blocks.emplace_back(numbers_figure(*search));
  result.blocks.emplace_back(comparison_table(*search));
  result.blocks.emplace_back(confirmed_table(*search));
  result.blocks.emplace_back(conclusions_table(block_key(*search, "conclusions"), *search));
  if (table == PaperTable::table1) {
    const std::vector<EqualStepsRow> rows = equal_steps(*search);
    if (!rows.empty()) result.blocks.emplace_back(equal_steps_table(*search, rows));
    for (const EqualStepsRow& row : rows) {
      result.ours["equal_steps"].push_back({{"training", text(row.training)},
                                            {"epsilon", row.epsilon},
                                            {"difference", row.difference},
                                            {"standard_error", json_number(row.standard_error)}});
    }
  }
  result.blocks.emplace_back(ranking_table(*search));
  result.files.push_back({block_key(*search, "paper") + ".csv", to_csv(comparison_table(*search))});
  result.findings.push_back(explained(*search));
  for (const NumberFit& fit : as_selected(*search, search->closest().reading).fit->numbers) {
    result.paper[fit.number.name] = fit.number.printed;
  }
  result.ours["readings_tried"] = search->tried.size();
  result.ours["readings_before"] = kEarlierSearch;
  if (const JudgedReading* literal = search->literal()) {
    result.ours["literal"] = judged_json(*search, *literal);
  }
  for (const JudgedReading& judged : search->confirmed) {
    result.ours["confirmed"].push_back(judged_json(*search, judged));
  }
  for (const JudgedReading& judged : search->tried) {
    result.ours["tried"].push_back(
        {{"reading", text(judged.reading, table)},
         {"distance", judged.fit ? json_number(judged.fit->distance) : Json(nullptr)},
         {"p_value", judged.fit ? json_number(judged.fit->p_value) : Json(nullptr)}});
  }
  result.interval = "in `ours`: 95 % over other models, by bootstrap over pairs and replicas";
  const auto size = [](const SearchSize& of) {
    return Json{{"pairs", of.pairs}, {"replicas", of.replicas}, {"seed", of.seed}};
  };
  result.size = {{"selection", size(search->selection)},
                 {"confirmation", size(search->confirmation)}};
  result.reduced = search->reduced;
  return result;
}

}  // namespace

std::optional<PartResult> reproduce_readings_table1(const PartContext& context) {
  return reproduce_readings(context, PaperTable::table1);
}
std::optional<PartResult> reproduce_readings_s1(const PartContext& context) {
  return reproduce_readings(context, PaperTable::table2_s1);
}
std::optional<PartResult> reproduce_readings_s2(const PartContext& context) {
  return reproduce_readings(context, PaperTable::table2_s2);
}
std::optional<PartResult> reproduce_readings_s3(const PartContext& context) {
  return reproduce_readings(context, PaperTable::table2_s3);
}
std::optional<PartResult> reproduce_readings_membership(const PartContext& context) {
  return reproduce_readings(context, PaperTable::membership);
}

}  // namespace sfumato::apps
