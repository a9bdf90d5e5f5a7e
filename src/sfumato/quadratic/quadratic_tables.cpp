#include "sfumato/quadratic/quadratic_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace sfumato {
namespace {

constexpr Direction kForward = Direction::forward;
constexpr Direction kReverse = Direction::reverse;
constexpr NumberStyle kProbability = NumberStyle::probability;
constexpr Eigen::Index kShownEntries = 4;
constexpr const char* kRelease = "x* + N(0, S)";

/// A getter of the risk, or of why there is none.
template <class View>
auto of_risk(View view) {
  return [view](const Observation& observation) -> Cell {
    if (!observation.risk) return Empty{observation.reason};
    return view(*observation.risk);
  };
}

auto kl_of(Direction direction) {
  return of_risk([direction](const Risk& risk) -> Cell { return risk.kl(direction); });
}

/// The same of the noise floor.
template <class View>
auto of_floor(View view) {
  return [view](const Observation& observation) -> Cell {
    if (!observation.floor.value) return Empty{observation.floor.reason};
    return view(*observation.floor.value);
  };
}

Cell mu_of(const Observation& observation) {
  return observation.mu ? Cell(*observation.mu) : Cell(Empty{observation.reason});
}

Cell excess_loss_of_d(const Observation& observation) {
  return cell_of(observation.accuracy.d.excess_loss);
}

Cell larger_kl(const Risk& risk) {
  const Claimed<Nats> forward = risk.kl(kForward);
  const Claimed<Nats> reverse = risk.kl(kReverse);
  return forward.value < reverse.value ? reverse : forward;
}

Cell bound_cell(const KlBound& bound) {
  if (!bound.reason.empty()) return Empty{bound.reason};
  return bound.kl;
}

std::string entries_text(const Eigen::VectorXd& vector) {
  std::string text;
  for (Eigen::Index i = 0; i < std::min(vector.size(), kShownEntries); ++i) {
    text += (i == 0 ? "" : ", ") + format_input(vector(i));
  }
  return fmt::format("({}{})", text, vector.size() > kShownEntries ? ", ..." : "");
}

/// By how much a step stretches the distance from the minimiser, at most; above 1 it diverges.
double largest_factor(const Eigen::VectorXd& eigenvalues, double learning_rate) {
  return (1.0 - learning_rate * eigenvalues.array()).abs().maxCoeff();
}

Cell minimiser_cell(const QuadraticLoss& loss) {
  const Minimum x = minimum(loss);
  if (!x.point) return Empty{x.reason};
  return entries_text(*x.point) + (x.unique ? "" : ", not the only one");
}

Table problem_table(const QuadraticAnswer& answer) {
  const QuadraticQuestion& question = answer.question;
  Table table("problem", "Problem",
              {{"quantity", "quantity"},
               {"d", "D", "", NumberStyle::general, Align::right},
               {"d_prime", "D'", "", NumberStyle::general, Align::right}});
  const QuadraticTraining& d = question.data.d;
  const QuadraticTraining& d_prime = question.data.d_prime;
  const Eigen::VectorXd rates = eigenvalues(d.loss);
  const Eigen::VectorXd rates_prime = eigenvalues(d_prime.loss);
  table.add_row({"parameters", question.dimension(), question.dimension()});
  table.add_row({"smallest eigenvalue of A", rates.minCoeff(), rates_prime.minCoeff()});
  table.add_row({"largest eigenvalue of A", rates.maxCoeff(), rates_prime.maxCoeff()});
  table.add_row(
      {"condition number of A", condition_number(d.loss), condition_number(d_prime.loss)});
  table.add_row({"minimiser x*", minimiser_cell(d.loss), minimiser_cell(d_prime.loss)});
  if (const QuadraticChain* chain = question.chain()) {
    table.add_row({"learning rate", chain->learning_rate, chain->learning_rate});
    table.add_row({"largest |1 - learning rate x eigenvalue|",
                   largest_factor(rates, chain->learning_rate),
                   largest_factor(rates_prime, chain->learning_rate)});
  }
  table.add_row(
      {fmt::format("trace of {}", question.noise_name()), trace(d.noise), trace(d_prime.noise)});
  if (question.is_release()) return table;
  table.add_row(
      {"mean of the start", entries_text(d.start.mean), entries_text(d_prime.start.mean)});
  table.add_row(
      {"trace of its covariance", trace(d.start.covariance), trace(d_prime.start.covariance)});
  return table;
}

/// The worse direction of what is asked of epsilons and deltas: results all of them, the first of each in brief.
RowFields<Observation> worse_fields(const RiskQuestions& asked) {
  RowFields<Observation> list;
  for (const double& value : asked.epsilons) {
    list.push_back({.key = "delta",
                    .title = fmt::format("delta({})", format_input(value)),
                    .of = of_risk([value](const Risk& r) { return Cell(r.delta(Epsilon{value})); }),
                    .style = kProbability,
                    .full = false,
                    .brief = &value == &asked.epsilons.front() ? 3 : 0,
                    .result = "delta",
                    .at = {{"epsilon", value}}});
  }
  for (const double& value : asked.deltas) {
    list.push_back({.key = "epsilon",
                    .title = fmt::format("epsilon({})", format_input(value)),
                    .of = of_risk([value](const Risk& r) { return Cell(r.epsilon(Delta{value})); }),
                    .full = false,
                    .brief = &value == &asked.deltas.front() ? 2 : 0,
                    .result = "epsilon",
                    .at = {{"delta", value}}});
  }
  list.push_back({.key = "kl",
                  .title = "KL",
                  .of = of_risk(larger_kl),
                  .unit = "nats",
                  .full = false,
                  .brief = 4});
  return list;
}

/// An observation at one of the epsilons, deltas or orders that are asked for.
struct Asked {
  const Observation* observation;
  double value;

  [[nodiscard]] const Observation& seen() const { return *observation; }
};

/// One view of the risk in both directions, over the values of its parameter.
struct TwoWays {
  std::string key, title;
  std::string parameter;
  std::array<Column, 2> columns;  ///< forward and reverse
  Cell (*of)(const Risk&, Direction, double);
};

Table table_over(const QuadraticAnswer& answer, const TwoWays& view,
                 const std::vector<double>& values) {
  std::vector<Asked> rows;
  for (const Observation& observation : answer.observations) {
    for (const double value : values) rows.push_back({&observation, value});
  }
  RowFields<Asked> fields = {through<Asked>(&Asked::seen, look_field(answer.question)),
                             {.key = view.parameter,
                              .title = view.parameter,
                              .of = [](const Asked& row) { return Cell(row.value); }}};
  for (const Direction direction : kDirections) {
    const Column& column = view.columns[direction == kForward ? 0 : 1];
    fields.push_back({.key = column.key,
                      .title = column.title,
                      .of =
                          [of = view.of, direction](const Asked& row) {
                            if (!row.observation->risk) return Cell(Empty{row.observation->reason});
                            return of(*row.observation->risk, direction, row.value);
                          },
                      .unit = column.unit,
                      .style = column.style});
  }
  return table_of(view.key, view.title, fields, rows, 2);
}

Table delta_table(const QuadraticAnswer& answer) {
  return table_over(answer,
                    {"delta",
                     "delta(epsilon): largest p(A) - e^epsilon q(A)",
                     "epsilon",
                     {{{"delta_forward", "delta D||D'", "", kProbability},
                       {"delta_reverse", "delta D'||D", "", kProbability}}},
                     [](const Risk& risk, Direction direction, double epsilon) {
                       return Cell(risk.delta(direction, Epsilon{epsilon}));
                     }},
                    answer.question.risk.epsilons);
}

Table epsilon_table(const QuadraticAnswer& answer) {
  return table_over(answer,
                    {"epsilon",
                     "epsilon at a given delta",
                     "delta",
                     {{{"epsilon_forward", "epsilon D||D'"}, {"epsilon_reverse", "epsilon D'||D"}}},
                     [](const Risk& risk, Direction direction, double delta) {
                       return Cell(risk.epsilon(direction, Delta{delta}));
                     }},
                    answer.question.risk.deltas);
}

Table renyi_table(const QuadraticAnswer& answer) {
  return table_over(
      answer,
      {"renyi",
       "Renyi divergence",
       "order",
       {{{"renyi_forward", "D||D'", "nats"}, {"renyi_reverse", "D'||D", "nats"}}},
       [](const Risk& risk, Direction direction, double order) {
         return Cell(risk.renyi(direction, order).value());  // exact distributions always have one
       }},
      answer.question.risk.renyi_orders);
}

Table floor_table(const QuadraticAnswer& answer) {
  const QuadraticQuestion& question = answer.question;
  const auto kl = [](Direction direction) {
    return of_floor([direction](const Risk& floor) { return Cell(floor.kl(direction)); });
  };
  return table_of<Observation>(
      "noise_floor",
      fmt::format("Noise floor: what remains when {0} -> c {0}, c -> inf", question.noise_name()),
      {look_field(question),
       {.key = "kl_forward", .title = "KL(D||D')", .of = kl(kForward), .unit = "nats"},
       {.key = "kl_reverse", .title = "KL(D'||D)", .of = kl(kReverse), .unit = "nats"},
       {.key = "advantage",
        .title = "advantage",
        .of = of_floor([](const Risk& floor) { return Cell(floor.advantage()); }),
        .style = kProbability}},
      answer.observations);
}

/// The theorems about a chain at one observation in one direction.
struct ChainRow {
  const Observation* observation;
  Direction direction;
  const ChainBounds* bounds;

  [[nodiscard]] const Observation& seen() const { return *observation; }
};

Table chain_bounds_table(const QuadraticAnswer& answer) {
  std::vector<ChainRow> rows;
  for (std::size_t i = 0; i < answer.chain_bounds.size(); ++i) {
    for (const Direction direction : kDirections) {
      rows.push_back({&answer.observations[i], direction,
                      &answer.chain_bounds[i][direction == kForward ? 0 : 1]});
    }
  }
  return table_of<ChainRow>(
      "chain_bounds",
      "Bounds on the KL of the last iterate, beside the exact value; c is the Lipschitz "
      "constant of the second step in the metric of its noise",
      {through<ChainRow>(&ChainRow::seen, look_field(answer.question)),
       {.key = "direction",
        .title = "direction",
        .of = [](const ChainRow& row) { return Cell(name(row.direction)); }},
       {.key = "kl",
        .title = "KL",
        .of = [](const ChainRow& row) { return kl_of(row.direction)(row.seen()); },
        .unit = "nats"},
       {.key = "contractive",
        .title = "contractive",
        .of = [](const ChainRow& row) { return bound_cell(row.bounds->contractive); },
        .unit = "nats"},
       {.key = "lipschitz",
        .title = "c",
        .of = [](const ChainRow& row) { return cell_of(row.bounds->lipschitz); }},
       {.key = "path",
        .title = "whole path",
        .of = [](const ChainRow& row) { return bound_cell(row.bounds->path); },
        .unit = "nats"},
       {.key = "mu",
        .title = "mu",
        .of = [](const ChainRow& row) { return cell_of(row.bounds->mu); }}},
      rows, 2);
}

}  // namespace

Text look_text(const QuadraticQuestion& question, const Observation& observation) {
  if (question.is_release()) return say("{}", Maths{kRelease});
  const double when = observation.when;
  if (question.chain() == nullptr) return say("{} = {}", Maths{"t"}, when);
  return say("{} {}", when, when == 1.0 ? "step" : "steps");
}

RowField<Observation> look_field(const QuadraticQuestion& question) {
  if (question.is_release()) {
    return {.key = "output", .title = "output", .of = [](const Observation&) {
              return Cell(kRelease);
            }};
  }
  const bool chain = question.chain() != nullptr;
  return {.key = chain ? "steps" : "time",
          .title = chain ? "steps" : "t",
          .of = [](const Observation& observation) { return Cell(observation.when); }};
}

RowFields<Observation> risk_fields(const QuadraticAnswer& answer) {
  const RiskQuestions& asked = answer.question.risk;
  RowFields<Observation> list = {
      {.key = "kl_forward",
       .title = "KL(D||D')",
       .of = kl_of(kForward),
       .unit = "nats",
       .result = "kl_forward"},
      {.key = "kl_reverse",
       .title = "KL(D'||D)",
       .of = kl_of(kReverse),
       .unit = "nats",
       .result = "kl_reverse"},
      {.key = "advantage",
       .title = "advantage",
       .of = of_risk([](const Risk& risk) { return Cell(risk.advantage()); }),
       .style = kProbability,
       .brief = 1,
       .result = "advantage"}};
  for (const double fpr : asked.false_positive_rates) {
    list.push_back({.key = fmt::format("tpr_at_{}", fpr),
                    .title = fmt::format("TPR at {}%", format_input(100.0 * fpr)),
                    .of = of_risk([fpr](const Risk& risk) { return Cell(risk.tpr(fpr)); }),
                    .style = kProbability});
  }
  const auto has_mu = [](const Observation& observation) { return observation.mu.has_value(); };
  if (std::any_of(answer.observations.begin(), answer.observations.end(), has_mu)) {
    list.push_back({.key = "mu", .title = "mu", .of = mu_of});
  }
  return joined(std::move(list), worse_fields(asked));
}

RowFields<Observation> accuracy_fields() {
  return {{.key = "error_d",
           .title = "error D",
           .of = [](const Observation& o) { return cell_of(o.accuracy.d.error); },
           .result = "error"},
          {.key = "error_d_prime",
           .title = "error D'",
           .of = [](const Observation& o) { return cell_of(o.accuracy.d_prime.error); }},
          {.key = "excess_loss_d", .title = "excess loss D", .of = excess_loss_of_d},
          {.key = "excess_loss_d_prime",
           .title = "excess loss D'",
           .of = [](const Observation& o) { return cell_of(o.accuracy.d_prime.excess_loss); }},
          {.key = "excess_loss",
           .title = "excess loss",
           .of = excess_loss_of_d,
           .full = false,
           .brief = 5,
           .result = "excess_loss"}};
}

std::vector<Table> full_tables(const QuadraticAnswer& answer) {
  const QuadraticQuestion& question = answer.question;
  const RowFields<Observation> look = {look_field(question)};
  std::vector<Table> tables = {problem_table(answer)};
  tables.push_back(
      table_of("risk",
               "Risk if the parameters are seen once: advantage is the total variation, TPR the "
               "best true-positive rate at that false-positive rate",
               joined(look, shown(risk_fields(answer), Detail::full)), answer.observations));
  tables.push_back(delta_table(answer));
  tables.push_back(epsilon_table(answer));
  tables.push_back(renyi_table(answer));
  if (question.chain() != nullptr) tables.push_back(chain_bounds_table(answer));
  tables.push_back(
      table_of("accuracy", "Accuracy: error E|x - x*|^2 and excess loss E f(x) - f(x*)",
               joined(look, shown(accuracy_fields(), Detail::full)), answer.observations));
  if (!question.is_release() && (answer.differences.curvature || answer.differences.noise)) {
    tables.push_back(floor_table(answer));
  }
  return tables;
}

Table brief_risk_table(const QuadraticAnswer& answer) {
  const RowFields<Observation> numbers =
      shown(joined(risk_fields(answer), accuracy_fields()), Detail::brief);
  return table_of("risk", "Risk if the parameters are seen once, in the worse direction",
                  joined({look_field(answer.question)}, without_methods(numbers)),
                  answer.observations);
}

}  // namespace sfumato
