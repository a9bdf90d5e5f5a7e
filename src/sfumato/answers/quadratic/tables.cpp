#include "sfumato/answers/quadratic/tables.hpp"

#include <fmt/format.h>

#include <utility>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

constexpr Direction kForward = Direction::forward;
constexpr Direction kReverse = Direction::reverse;
constexpr Eigen::Index kShownEntries = 4;

/// A cell about the risk, or why there is none.
template <class View>
Cell view(const Observation& observation, View&& of) {
  if (!observation.risk) return Empty{observation.reason};
  return of(*observation.risk);
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

}  // namespace

Column label_column(const QuadraticProblem& problem) {
  if (problem.is_release()) return {"output", "output"};
  return problem.chain() ? Column{"steps", "steps"} : Column{"time", "t"};
}

Table problem_table(const QuadraticProblem& problem) {
  Table table("problem", "Problem",
              {{"quantity", "quantity"},
               {"d", "D", "", NumberStyle::general, Align::right},
               {"d_prime", "D'", "", NumberStyle::general, Align::right}});
  const DataSet& d = problem.d;
  const DataSet& d_prime = problem.d_prime;
  const Eigen::VectorXd rates = eigenvalues(d.loss);
  const Eigen::VectorXd rates_prime = eigenvalues(d_prime.loss);
  table.add_row({"parameters", problem.dimension(), problem.dimension()});
  table.add_row({"smallest eigenvalue of A", rates.minCoeff(), rates_prime.minCoeff()});
  table.add_row({"largest eigenvalue of A", rates.maxCoeff(), rates_prime.maxCoeff()});
  table.add_row(
      {"condition number of A", condition_number(d.loss), condition_number(d_prime.loss)});
  table.add_row({"minimiser x*", minimiser_cell(d.loss), minimiser_cell(d_prime.loss)});
  if (const Chain* chain = problem.chain()) {
    table.add_row({"learning rate", chain->learning_rate, chain->learning_rate});
    table.add_row({"largest |1 - learning rate x eigenvalue|",
                   largest_factor(rates, chain->learning_rate),
                   largest_factor(rates_prime, chain->learning_rate)});
  }
  table.add_row(
      {fmt::format("trace of {}", problem.noise_name()), trace(d.noise), trace(d_prime.noise)});
  if (problem.is_release()) return table;
  table.add_row(
      {"mean of the start", entries_text(d.start.mean), entries_text(d_prime.start.mean)});
  table.add_row(
      {"trace of its covariance", trace(d.start.covariance), trace(d_prime.start.covariance)});
  return table;
}

Table risk_table(const QuadraticProblem& problem, const std::vector<Observation>& observations) {
  bool has_mu = false;
  for (const Observation& observation : observations) has_mu = has_mu || observation.mu;
  std::vector<Column> columns = {label_column(problem),
                                 {"kl_forward", "KL(D||D')", "nats"},
                                 {"kl_reverse", "KL(D'||D)", "nats"},
                                 {"advantage", "advantage", "", NumberStyle::probability}};
  for (const double fpr : problem.questions.false_positive_rates) {
    columns.push_back({fmt::format("tpr_at_{}", fpr),
                       fmt::format("TPR at {}%", format_input(100.0 * fpr)), "",
                       NumberStyle::probability});
  }
  if (has_mu) columns.push_back({"mu", "mu"});
  Table table("risk",
              "Risk of one look at the parameters: advantage is the total variation, TPR the best "
              "true-positive rate at that false-positive rate",
              std::move(columns));
  for (const Observation& observation : observations) {
    std::vector<Cell> row = {observation.label};
    row.push_back(view(observation, [](const Risk& r) { return Cell(r.kl(kForward)); }));
    row.push_back(view(observation, [](const Risk& r) { return Cell(r.kl(kReverse)); }));
    row.push_back(view(observation, [](const Risk& r) { return Cell(r.advantage()); }));
    for (const double fpr : problem.questions.false_positive_rates) {
      row.push_back(view(observation, [&](const Risk& r) { return Cell(r.tpr(fpr)); }));
    }
    if (has_mu) {
      row.push_back(observation.mu
                        ? Cell(Claimed<double>{*observation.mu, Claim::exact,
                                               "equal covariances: this pair is exactly mu-GDP"})
                        : Cell(Empty{observation.reason}));
    }
    table.add_row(std::move(row));
  }
  return table;
}

Table delta_table(const QuadraticProblem& problem, const std::vector<Observation>& observations) {
  Table table("delta", "delta(epsilon): largest p(A) - e^epsilon q(A)",
              {label_column(problem),
               {"epsilon", "epsilon"},
               {"delta_forward", "delta D||D'", "", NumberStyle::probability},
               {"delta_reverse", "delta D'||D", "", NumberStyle::probability}},
              2);
  for (const Observation& observation : observations) {
    for (const Epsilon epsilon : problem.questions.epsilons) {
      const auto cell = [&](Direction direction) {
        return view(observation, [&](const Risk& r) { return Cell(r.delta(direction, epsilon)); });
      };
      table.add_row({observation.label, epsilon.nats(), cell(kForward), cell(kReverse)});
    }
  }
  return table;
}

Table epsilon_table(const QuadraticProblem& problem, const std::vector<Observation>& observations) {
  Table table("epsilon", "epsilon at a given delta",
              {label_column(problem),
               {"delta", "delta"},
               {"epsilon_forward", "epsilon D||D'"},
               {"epsilon_reverse", "epsilon D'||D"}},
              2);
  for (const Observation& observation : observations) {
    for (const Delta delta : problem.questions.deltas) {
      const auto cell = [&](Direction direction) {
        return view(observation, [&](const Risk& r) { return Cell(r.epsilon(direction, delta)); });
      };
      table.add_row({observation.label, delta.probability(), cell(kForward), cell(kReverse)});
    }
  }
  return table;
}

Table renyi_table(const QuadraticProblem& problem, const std::vector<Observation>& observations) {
  Table table("renyi", "Renyi divergence",
              {label_column(problem),
               {"order", "order"},
               {"renyi_forward", "D||D'", "nats"},
               {"renyi_reverse", "D'||D", "nats"}},
              2);
  for (const Observation& observation : observations) {
    for (const double order : problem.questions.renyi_orders) {
      const auto cell = [&](Direction direction) {
        return view(observation, [&](const Risk& r) {
          return Cell(r.renyi(direction, order).value());  // exact laws always have one
        });
      };
      table.add_row({observation.label, order, cell(kForward), cell(kReverse)});
    }
  }
  return table;
}

Table accuracy_table(const QuadraticProblem& problem,
                     const std::vector<Observation>& observations) {
  Table table("accuracy", "Accuracy: error E|x - x*|^2 and excess loss E f(x) - f(x*)",
              {label_column(problem),
               {"error_d", "error D"},
               {"error_d_prime", "error D'"},
               {"excess_loss_d", "excess loss D"},
               {"excess_loss_d_prime", "excess loss D'"}});
  for (const Observation& observation : observations) {
    table.add_row({observation.label, observation.d.error, observation.d_prime.error,
                   observation.d.excess_loss, observation.d_prime.excess_loss});
  }
  return table;
}

Table floor_table(const QuadraticProblem& problem, const std::vector<Observation>& observations) {
  Table table(
      "noise_floor",
      fmt::format("Noise floor: what remains when {0} -> c {0}, c -> inf", problem.noise_name()),
      {label_column(problem),
       {"kl_forward", "KL(D||D')", "nats"},
       {"kl_reverse", "KL(D'||D)", "nats"},
       {"advantage", "advantage", "", NumberStyle::probability}});
  for (const Observation& observation : observations) {
    if (!observation.floor) {
      const Empty none{observation.floor_reason};
      table.add_row({observation.label, none, none, none});
      continue;
    }
    const Risk& floor = *observation.floor;
    table.add_row({observation.label, floor.kl(kForward), floor.kl(kReverse), floor.advantage()});
  }
  return table;
}

}  // namespace sfumato
