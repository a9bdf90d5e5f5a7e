#include "sfumato/rows/noise_tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sfumato/core/overloaded.hpp"
#include "sfumato/rows/rows_fields.hpp"
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

/// The distribution of ridge weights is known; a minimiser of another loss is found in rounded arithmetic, and the distribution of a
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

const Maths kRSquared{"R^2"};

/// A measure in a sentence, to four digits.
ClaimedNumber number(double value) { return {{value, Claim::estimate}}; }

/// "=" where the distribution of the weights is known, "~" where it is approximated.
Maths sign_of(const RowsQuestion& question) {
  return {question.model == RowsModel::ridge ? "=" : "~"};
}

Text title_of(const Measure& measure) {
  return measure.key == "r_squared" ? say("{}", kRSquared) : say("{}", measure.title);
}

/// Whether a constant would predict as well as the released model.
bool constant_does_as_well(const ReleaseCost& cost) {
  return std::visit(
      Overloaded{[](const Cost<RegressionQuality>& of) { return of.expected.r_squared < 0.0; },
                 [](const LabelCost& of) { return !(of.expected.accuracy > of.majority); }},
      cost);
}

/// `from` is the noise from which on it is so; none: at the noise of the answer.
void warn_of_poor_fit(Document& document, const ReleaseCost& cost, std::optional<double> from) {
  if (!constant_does_as_well(cost)) return;
  const auto* labels = std::get_if<LabelCost>(&cost);
  const Text when = from ? say("from noise {} on, ", *from) : Text();
  document.state(
      StatementKind::warning,
      labels == nullptr
          ? say("{}expected {} below 0: the mean of the target predicts better.", when, kRSquared)
          : say("{}always saying the more frequent label is right as often ({}).", when,
                number(labels->majority)));
}

Text name_of_noise(const RowsAnswer& answer, double noise) {
  return std::holds_alternative<std::string>(answer.question.noise)
             ? say("{} times the covariance of {}", noise,
                   std::get<std::string>(answer.question.noise))
             : say("noise {}", noise);
}

/// The risks at a noise, the worst of them results.
RowFields<NoisePoint> risk_fields_of_noise(const RowsAnswer& answer) {
  const auto risk = [method = words_of_method(answer)](RiskNumber NoisePoint::*of) {
    return [method, of](const NoisePoint& point) { return cell_of(point.*of, method); };
  };
  constexpr NumberStyle kProbability = NumberStyle::probability;
  return {{.key = "noise",
           .title = "noise",
           .of = [](const NoisePoint& point) { return Cell(format_input(point.noise)); }},
          {.key = "advantage",
           .title = "worst",
           .of = risk(&NoisePoint::advantage),
           .style = kProbability,
           .result = "worst_advantage"},
          {.key = "high_advantage",
           .title = "99 %",
           .of = risk(&NoisePoint::high_advantage),
           .style = kProbability},
          {.key = "median_advantage",
           .title = "median",
           .of = risk(&NoisePoint::median_advantage),
           .style = kProbability},
          {.key = "epsilon",
           .title = "eps",
           .of = risk(&NoisePoint::epsilon),
           .result = "worst_epsilon"}};
}

/// How well what is released at a noise predicts; the table shows the first measure.
RowFields<NoisePoint> quality_fields(const RowsAnswer& answer) {
  const bool ridge = answer.question.model == RowsModel::ridge;
  const auto quality = [&answer](std::size_t which) {
    return [&answer, which](const NoisePoint& point) -> Cell {
      if (!point.cost) return Empty{"no distribution is known"};
      return quality_cell(measures_of(*point.cost, answer.question)[which].expected,
                          answer.question);
    };
  };
  const std::string first = ridge ? "r_squared" : "accuracy";
  const std::string second = ridge ? "rmse" : "log_loss";
  return {{.key = first, .title = ridge ? "R^2" : "accuracy", .of = quality(0), .result = first},
          {.key = second, .title = second, .of = quality(1), .full = false, .result = second}};
}

}  // namespace

void add_cost(Document& document, const RowsAnswer& answer) {
  if (!answer.cost) return;
  const auto quality = [&](double Measure::*of) {
    return [&answer, of](const Measure& measure) {
      return quality_cell(measure.*of, answer.question);
    };
  };
  document.add(table_of<Measure>(
      "cost", "What the noise costs, on the rows of this table",
      {{.key = "measure",
        .title = "measure",
        .of = [](const Measure& measure) { return Cell(measure.title); }},
       {.key = "without_noise", .title = "without noise", .of = quality(&Measure::without_noise)},
       {.key = "expected", .title = "expected with noise", .of = quality(&Measure::expected)}},
      measures_of(*answer.cost, answer.question)));
  warn_of_poor_fit(document, *answer.cost, std::nullopt);
}

Text cost_sentence(const RowsAnswer& answer, std::string_view opening) {
  if (!answer.cost) return {};
  Text parts;
  for (const Measure& measure : measures_of(*answer.cost, answer.question)) {
    if (std::isnan(measure.expected)) continue;
    parts += say("{}{} {} {} ({}{})", parts.empty() ? "" : ", ", title_of(measure),
                 sign_of(answer.question), number(measure.expected),
                 parts.empty() ? "without noise " : "", number(measure.without_noise));
  }
  return parts.empty() ? parts : say("{}: expected {}.", std::string(opening), parts);
}

bool predicts_nothing(const NoisePoint& point) {
  return point.cost && constant_does_as_well(*point.cost);
}

Text cost_of_noises(const RowsAnswer& answer) {
  const NoisePoint& first = answer.sweep.front();
  const NoisePoint& last = answer.sweep.back();
  if (!first.cost || !last.cost) return {};
  const Measure from = measures_of(*first.cost, answer.question).front();
  const Measure to = measures_of(*last.cost, answer.question).front();
  if (std::isnan(from.expected) || std::isnan(to.expected)) return {};
  return say("On these rows: expected {} {} {} at noise {}, {} at noise {}; {} without noise.",
             title_of(from), sign_of(answer.question), number(from.expected), first.noise,
             number(to.expected), last.noise, number(from.without_noise));
}

void add_cost_in_brief(Document& document, const RowsAnswer& answer) {
  if (!answer.cost) return;
  Text sentence = cost_sentence(answer, "Cost on these rows");
  if (!sentence.empty()) document.state(StatementKind::info, std::move(sentence));
  warn_of_poor_fit(document, *answer.cost, std::nullopt);
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
  const std::string quality = answer.question.model == RowsModel::ridge ? "R^2" : "accuracy";
  const RowFields<NoisePoint> risks = risk_fields_of_noise(answer);
  const RowFields<NoisePoint> qualities = quality_fields(answer);
  for (const NoisePoint& point : answer.sweep) {
    const std::vector<Subject> of{{"noise", point.noise}};
    add_results(document, risks, point, of, Missing::stated);
    if (point.cost) add_results(document, qualities, point, of, Missing::stated);
  }
  Table table = table_of(
      "sweep",
      fmt::format("Risk and accuracy by noise: advantages of the worst row, 99 % and half of the "
                  "rows; eps({}) of the worst; expected {}",
                  format_input(answer.question.delta), quality),
      joined(risks, shown(qualities, Detail::full)), answer.sweep);
  if (answer.floor) {
    const std::string method = words_of_method(answer);
    table.add_row({"unlimited", cell_of(answer.floor->advantage, method), Empty{}, Empty{},
                   cell_of(answer.floor->epsilon, method), Empty{}});
    add_floor_results(document, *answer.floor, method);
  }
  document.add(std::move(table));
  // More noise is worse: the first that predicts nothing says it of all.
  const auto useless = std::find_if(answer.sweep.begin(), answer.sweep.end(), predicts_nothing);
  if (useless == answer.sweep.end()) return;
  warn_of_poor_fit(document, *useless->cost, useless->noise);
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
    document.state(StatementKind::verdict,
                   say("{}: reached with {}, the least that does for every row (to four digits).",
                       Maths{wanted}, name_of_noise(answer, answer.search->noise)),
                   Outcome::good);
    document.add_result("noise", answer.search->noise);
  } else {
    document.state(StatementKind::verdict,
                   say("{}: not reachable: {}.", Maths{wanted}, Text(answer.search->reason)),
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
                   say("{}: no row has an advantage above {}.", VerdictWord{"PASS"}, most),
                   Outcome::good);
    return;
  }
  document.state(
      StatementKind::verdict,
      say("{}: {} of {} {} above an advantage of {}.", VerdictWord{shown ? "FAIL" : "NOT SHOWN"},
          fmt::to_string(above), count_of(answer.risks.size(), "row"),
          shown ? (above == 1 ? "is" : "are") : "may be", most),
      shown ? Outcome::bad : Outcome::open);
}

}  // namespace sfumato
