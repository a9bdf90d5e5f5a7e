#include "sfumato/rows/noise_tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "sfumato/core/overloaded.hpp"
#include "sfumato/rows/rows_columns.hpp"
#include "sfumato/rows/rows_words.hpp"

namespace sfumato {
namespace {

/// One measure of how well weights predict.
struct Measure {
  std::string key;
  std::string title;
  double without_noise;
  double expected;
};

std::vector<Measure> measures_of(const ReleaseCost& cost, const RowsQuestion& question) {
  return std::visit(
      Overloaded{[&](const Cost<RegressionQuality>& of) -> std::vector<Measure> {
                   return {{"r_squared", "R^2", of.without_noise.r_squared, of.expected.r_squared},
                           {"rmse", fmt::format("RMSE ({})", question.target),
                            of.without_noise.rmse, of.expected.rmse}};
                 },
                 [](const LabelCost& of) -> std::vector<Measure> {
                   return {
                       {"accuracy", "accuracy", of.without_noise.accuracy, of.expected.accuracy},
                       {"log_loss", "log-loss", of.without_noise.log_loss, of.expected.log_loss}};
                 }},
      cost);
}

/// The law of ridge weights is known; a minimiser of another loss is found in rounded arithmetic, and the law of a
/// trained one is approximated.
Cell quality_cell(double value, const RowsQuestion& question) {
  if (std::isnan(value)) return Empty{"the target does not vary"};
  if (question.model == RowsModel::ridge) {
    return Claimed<double>{value, Claim::exact,
                           "on the rows of this table, from the distribution of the weights"};
  }
  return Claimed<double>{
      value, Claim::estimate,
      training_of(question)
          ? "on the rows of this table, with the normal approximation of the weights"
          : "on the rows of this table, at the computed minimiser"};
}

void add_floor_results(Document& document, const RiskFloor& floor, const std::string& method) {
  document.add_result("floor_advantage", cell_of(floor.advantage, method));
  document.add_result("floor_epsilon", cell_of(floor.epsilon, method));
}

void warn_of_poor_fit(Document& document, const ReleaseCost& cost, const std::string& when) {
  std::visit(
      Overloaded{
          [&](const Cost<RegressionQuality>& of) {
            if (!(of.expected.r_squared < 0.0)) return;
            document.state(StatementKind::warning,
                           when + "expected R^2 below 0: the mean of the target predicts better.");
          },
          [&](const LabelCost& of) {
            if (of.expected.accuracy > of.majority) return;
            document.state(
                StatementKind::warning,
                fmt::format("{}always saying the more frequent label is right as often ({}).", when,
                            format_number(of.majority, Rounding::nearest, 4)));
          }},
      cost);
}

std::string name_of_noise(const RowsAnswer& answer, double noise) {
  return std::holds_alternative<std::string>(answer.question.noise)
             ? fmt::format("{} times the covariance of {}", format_input(noise),
                           std::get<std::string>(answer.question.noise))
             : fmt::format("noise {}", format_input(noise));
}

}  // namespace

void add_cost(Document& document, const RowsAnswer& answer) {
  if (!answer.cost) return;
  Table table("cost", "What the noise costs, on the rows of this table",
              {{"measure", "measure"},
               {"without_noise", "without noise"},
               {"expected", "expected with noise"}});
  for (const Measure& measure : measures_of(*answer.cost, answer.question)) {
    table.add_row({measure.title, quality_cell(measure.without_noise, answer.question),
                   quality_cell(measure.expected, answer.question)});
  }
  document.add(std::move(table));
  warn_of_poor_fit(document, *answer.cost, "");
}

std::string cost_sentence(const RowsAnswer& answer) {
  if (!answer.cost) return {};
  const bool exact = answer.question.model == RowsModel::ridge;
  std::vector<std::string> parts;
  for (const Measure& measure : measures_of(*answer.cost, answer.question)) {
    if (std::isnan(measure.expected)) continue;
    const auto text = [](double value) { return format_number(value, Rounding::nearest, 4); };
    parts.push_back(fmt::format("{} {} {} ({}{})", measure.title, exact ? "=" : "~",
                                text(measure.expected), parts.empty() ? "without noise " : "",
                                text(measure.without_noise)));
  }
  return parts.empty() ? std::string()
                       : fmt::format("On these rows: expected {}.", fmt::join(parts, ", "));
}

bool predicts_nothing(const NoisePoint& point) {
  if (!point.cost) return false;
  return std::visit(
      Overloaded{[](const Cost<RegressionQuality>& of) { return of.expected.r_squared < 0.0; },
                 [](const LabelCost& of) { return of.expected.accuracy <= of.majority; }},
      *point.cost);
}

std::string cost_of_noises(const RowsAnswer& answer) {
  const NoisePoint& first = answer.sweep.front();
  const NoisePoint& last = answer.sweep.back();
  if (!first.cost || !last.cost) return {};
  const Measure from = measures_of(*first.cost, answer.question).front();
  const Measure to = measures_of(*last.cost, answer.question).front();
  if (std::isnan(from.expected) || std::isnan(to.expected)) return {};
  const auto text = [](double value) { return format_number(value, Rounding::nearest, 4); };
  return fmt::format(
      "On these rows: expected {} {} {} at noise {}, {} at noise {}; {} without noise.", from.title,
      answer.question.model == RowsModel::ridge ? "=" : "~", text(from.expected),
      format_input(first.noise), text(to.expected), format_input(last.noise),
      text(from.without_noise));
}

void add_cost_in_brief(Document& document, const RowsAnswer& answer) {
  if (!answer.cost) return;
  const std::string sentence = cost_sentence(answer);
  if (!sentence.empty()) document.state(StatementKind::info, "Cost o" + sentence.substr(1));
  warn_of_poor_fit(document, *answer.cost, "");
}

void add_cost_results(Document& document, const RowsAnswer& answer) {
  if (!answer.cost || !answer.sweep.empty()) return;
  for (const Measure& measure : measures_of(*answer.cost, answer.question)) {
    document.add_result(measure.key, quality_cell(measure.expected, answer.question));
    document.add_result(measure.key + "_without_noise",
                        quality_cell(measure.without_noise, answer.question));
  }
}

void add_sweep(Document& document, const RowsAnswer& answer) {
  const bool ridge = answer.question.model == RowsModel::ridge;
  Table table(
      "sweep",
      fmt::format("Risk and accuracy by noise: advantages of the worst row, 99 % and half of the "
                  "rows; eps({}) of the worst; expected {}",
                  format_input(answer.question.delta), ridge ? "R^2" : "accuracy"),
      {{"noise", "noise"},
       {"advantage", "worst", "", NumberStyle::probability},
       {"high_advantage", "99 %", "", NumberStyle::probability},
       {"median_advantage", "median", "", NumberStyle::probability},
       {"epsilon", "eps"},
       {ridge ? "r_squared" : "accuracy", ridge ? "R^2" : "accuracy"}});
  const std::string method = words_of_method(answer);
  for (const NoisePoint& point : answer.sweep) {
    const std::vector<std::pair<std::string, Cell>> of{{"noise", point.noise}};
    std::vector<Cell> cells{format_input(point.noise)};
    for (const RiskNumber& number :
         {point.advantage, point.high_advantage, point.median_advantage, point.epsilon}) {
      cells.push_back(cell_of(number, method));
    }
    document.add_result("worst_advantage", cells[1], of);
    document.add_result("worst_epsilon", cells[4], of);
    if (!point.cost) cells.emplace_back(Empty{"no distribution is known"});
    if (point.cost) {
      const std::vector<Measure> measures = measures_of(*point.cost, answer.question);
      cells.push_back(quality_cell(measures.front().expected, answer.question));
      for (const Measure& measure : measures) {
        document.add_result(measure.key, quality_cell(measure.expected, answer.question), of);
      }
    }
    table.add_row(std::move(cells));
  }
  if (answer.floor) {
    table.add_row({"unlimited", cell_of(answer.floor->advantage, method), Empty{}, Empty{},
                   cell_of(answer.floor->epsilon, method), Empty{}});
    add_floor_results(document, *answer.floor, method);
  }
  document.add(std::move(table));
  for (const NoisePoint& point : answer.sweep) {
    if (!point.cost) continue;
    const std::size_t before = document.blocks().size();
    warn_of_poor_fit(document, *point.cost,
                     fmt::format("from noise {} on, ", format_input(point.noise)));
    if (document.blocks().size() > before) break;  // more noise is worse
  }
}

void add_sweep_figure(Document& document, const RowsAnswer& answer) {
  Series series{"noises", "noise", {}, {}, {}, Claim::exact, words_of_method(answer)};
  std::string quality;
  for (const NoisePoint& point : answer.sweep) {
    if (!point.cost || std::isnan(point.advantage.value)) continue;
    const Measure measure = measures_of(*point.cost, answer.question).front();
    if (std::isnan(measure.expected)) continue;
    quality = measure.title;
    if (point.advantage.claim != Claim::exact) series.claim = point.advantage.claim;
    series.x.push_back(measure.expected);
    series.y.push_back(point.advantage.value);
    series.labels.push_back(fmt::format("noise {}", format_input(point.noise)));
  }
  if (series.x.empty()) return;
  Figure figure("risk_and_accuracy", "Worst advantage against expected accuracy, by noise",
                Mark::points, {"expected " + quality}, {"worst advantage"});
  figure.add(std::move(series));
  figure.set_caption("Lower is more private, further right is more accurate.");
  document.add(std::move(figure));
}

void add_search(Document& document, const RowsAnswer& answer) {
  if (!answer.search) return;
  const RowsGoal& goal = *answer.question.goal;
  const std::string wanted = goal.measure == RowsGoal::Measure::epsilon
                                 ? fmt::format("eps({}) <= {}", format_input(answer.question.delta),
                                               format_input(goal.most))
                                 : fmt::format("advantage <= {}", format_input(goal.most));
  CheckedClaim claim;
  claim.claim = wanted + " for every row";
  claim.outcome = answer.verdict;
  document.add_verdict(std::move(claim));
  if (answer.search->reached) {
    document.state(
        StatementKind::verdict,
        fmt::format("{}: reached with {}, the least that does for every row (to four digits).",
                    wanted, name_of_noise(answer, answer.search->noise)),
        Outcome::good);
    document.add_result("noise", answer.search->noise);
  } else {
    document.state(StatementKind::verdict,
                   fmt::format("{}: not reachable: {}.", wanted, answer.search->reason),
                   Outcome::bad);
  }
  if (answer.floor) add_floor_results(document, *answer.floor, words_of_method(answer));
}

void add_gate(Document& document, const RowsAnswer& answer) {
  if (!answer.question.max_advantage) return;
  const std::string most = format_input(*answer.question.max_advantage);
  const std::size_t above = answer.above.size();
  const bool shown = answer.verdict == Verdict::violated;
  CheckedClaim claim;
  claim.claim = fmt::format("advantage <= {} for every row", most);
  claim.outcome = above == 0 ? Verdict::holds : shown ? Verdict::violated : Verdict::open;
  document.add_verdict(std::move(claim));
  if (above == 0) {
    document.state(StatementKind::verdict,
                   fmt::format("PASS: no row has an advantage above {}.", most), Outcome::good);
    return;
  }
  document.state(
      StatementKind::verdict,
      fmt::format("{}: {} of {} {} above an advantage of {}.", shown ? "FAIL" : "NOT SHOWN", above,
                  count_of(answer.risks.size(), "row"),
                  shown ? (above == 1 ? "is" : "are") : "may be", most),
      shown ? Outcome::bad : Outcome::open);
}

}  // namespace sfumato
