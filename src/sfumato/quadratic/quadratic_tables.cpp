#include "sfumato/quadratic/quadratic_tables.hpp"

#include <fmt/format.h>

#include <utility>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

constexpr Direction kForward = Direction::forward;
constexpr Direction kReverse = Direction::reverse;
constexpr Eigen::Index kShownEntries = 4;
constexpr const char* kRelease = "x* + N(0, S)";

/// A cell about the risk, or why there is none.
template <class View>
Cell view(const Observation& observation, View&& of) {
  if (!observation.risk) return Empty{observation.reason};
  return of(*observation.risk);
}

template <class T>
Cell cell_of(const Known<T>& known) {
  return known.value ? Cell(*known.value) : Cell(Empty{known.reason});
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

}  // namespace

std::string look_text(const QuadraticQuestion& question, const Observation& observation) {
  if (question.is_release()) return kRelease;
  const std::string when = format_input(observation.when);
  if (question.chain() == nullptr) return "t = " + when;
  return when + (observation.when == 1.0 ? " step" : " steps");
}

Cell look_cell(const QuadraticQuestion& question, const Observation& observation) {
  if (question.is_release()) return kRelease;
  return observation.when;
}

Column look_column(const QuadraticQuestion& question) {
  if (question.is_release()) return {"output", "output"};
  return question.chain() != nullptr ? Column{"steps", "steps"} : Column{"time", "t"};
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

Table risk_table(const QuadraticAnswer& answer) {
  const QuadraticQuestion& question = answer.question;
  bool has_mu = false;
  for (const Observation& observation : answer.observations) has_mu = has_mu || observation.mu;
  std::vector<Column> columns = {look_column(question),
                                 {"kl_forward", "KL(D||D')", "nats"},
                                 {"kl_reverse", "KL(D'||D)", "nats"},
                                 {"advantage", "advantage", "", NumberStyle::probability}};
  for (const double fpr : question.risk.false_positive_rates) {
    columns.push_back({fmt::format("tpr_at_{}", fpr),
                       fmt::format("TPR at {}%", format_input(100.0 * fpr)), "",
                       NumberStyle::probability});
  }
  if (has_mu) columns.push_back({"mu", "mu"});
  Table table("risk",
              "Risk if the parameters are seen once: advantage is the total variation, TPR the "
              "best true-positive rate at that false-positive rate",
              std::move(columns));
  for (const Observation& observation : answer.observations) {
    std::vector<Cell> row = {look_cell(question, observation)};
    row.push_back(view(observation, [](const Risk& r) { return Cell(r.kl(kForward)); }));
    row.push_back(view(observation, [](const Risk& r) { return Cell(r.kl(kReverse)); }));
    row.push_back(view(observation, [](const Risk& r) { return Cell(r.advantage()); }));
    for (const double fpr : question.risk.false_positive_rates) {
      row.push_back(view(observation, [&](const Risk& r) { return Cell(r.tpr(fpr)); }));
    }
    if (has_mu) {
      row.push_back(observation.mu ? Cell(*observation.mu) : Cell(Empty{observation.reason}));
    }
    table.add_row(std::move(row));
  }
  return table;
}

Table delta_table(const QuadraticAnswer& answer) {
  const QuadraticQuestion& question = answer.question;
  Table table("delta", "delta(epsilon): largest p(A) - e^epsilon q(A)",
              {look_column(question),
               {"epsilon", "epsilon"},
               {"delta_forward", "delta D||D'", "", NumberStyle::probability},
               {"delta_reverse", "delta D'||D", "", NumberStyle::probability}},
              2);
  for (const Observation& observation : answer.observations) {
    for (const double value : question.risk.epsilons) {
      const Epsilon epsilon{value};
      const auto cell = [&](Direction direction) {
        return view(observation, [&](const Risk& r) { return Cell(r.delta(direction, epsilon)); });
      };
      table.add_row(
          {look_cell(question, observation), epsilon.nats(), cell(kForward), cell(kReverse)});
    }
  }
  return table;
}

Table epsilon_table(const QuadraticAnswer& answer) {
  const QuadraticQuestion& question = answer.question;
  Table table("epsilon", "epsilon at a given delta",
              {look_column(question),
               {"delta", "delta"},
               {"epsilon_forward", "epsilon D||D'"},
               {"epsilon_reverse", "epsilon D'||D"}},
              2);
  for (const Observation& observation : answer.observations) {
    for (const double value : question.risk.deltas) {
      const Delta delta{value};
      const auto cell = [&](Direction direction) {
        return view(observation, [&](const Risk& r) { return Cell(r.epsilon(direction, delta)); });
      };
      table.add_row(
          {look_cell(question, observation), delta.probability(), cell(kForward), cell(kReverse)});
    }
  }
  return table;
}

Table renyi_table(const QuadraticAnswer& answer) {
  const QuadraticQuestion& question = answer.question;
  Table table("renyi", "Renyi divergence",
              {look_column(question),
               {"order", "order"},
               {"renyi_forward", "D||D'", "nats"},
               {"renyi_reverse", "D'||D", "nats"}},
              2);
  for (const Observation& observation : answer.observations) {
    for (const double order : question.risk.renyi_orders) {
      const auto cell = [&](Direction direction) {
        return view(observation, [&](const Risk& r) {
          return Cell(r.renyi(direction, order).value());  // exact laws always have one
        });
      };
      table.add_row({look_cell(question, observation), order, cell(kForward), cell(kReverse)});
    }
  }
  return table;
}

Table accuracy_table(const QuadraticAnswer& answer) {
  const QuadraticQuestion& question = answer.question;
  Table table("accuracy", "Accuracy: error E|x - x*|^2 and excess loss E f(x) - f(x*)",
              {look_column(question),
               {"error_d", "error D"},
               {"error_d_prime", "error D'"},
               {"excess_loss_d", "excess loss D"},
               {"excess_loss_d_prime", "excess loss D'"}});
  for (const Observation& observation : answer.observations) {
    table.add_row({look_cell(question, observation), cell_of(observation.accuracy.d.error),
                   cell_of(observation.accuracy.d_prime.error),
                   cell_of(observation.accuracy.d.excess_loss),
                   cell_of(observation.accuracy.d_prime.excess_loss)});
  }
  return table;
}

Table floor_table(const QuadraticAnswer& answer) {
  const QuadraticQuestion& question = answer.question;
  Table table(
      "noise_floor",
      fmt::format("Noise floor: what remains when {0} -> c {0}, c -> inf", question.noise_name()),
      {look_column(question),
       {"kl_forward", "KL(D||D')", "nats"},
       {"kl_reverse", "KL(D'||D)", "nats"},
       {"advantage", "advantage", "", NumberStyle::probability}});
  for (const Observation& observation : answer.observations) {
    if (!observation.floor.value) {
      const Empty none{observation.floor.reason};
      table.add_row({look_cell(question, observation), none, none, none});
      continue;
    }
    const Risk& floor = *observation.floor.value;
    table.add_row({look_cell(question, observation), floor.kl(kForward), floor.kl(kReverse),
                   floor.advantage()});
  }
  return table;
}

Table chain_bounds_table(const QuadraticAnswer& answer) {
  Table table("chain_bounds",
              "Bounds on the KL of the last iterate, beside the exact value; c is the Lipschitz "
              "constant of the second step in the metric of the noise",
              {look_column(answer.question),
               {"direction", "direction"},
               {"kl", "KL", "nats"},
               {"contractive", "contractive", "nats"},
               {"lipschitz", "c"},
               {"path", "whole path", "nats"},
               {"mu", "mu"}},
              2);
  for (std::size_t i = 0; i < answer.chain_bounds.size(); ++i) {
    const Observation& observation = answer.observations[i];
    for (const Direction direction : kDirections) {
      const ChainBounds& bounds = answer.chain_bounds[i][direction == kForward ? 0 : 1];
      table.add_row({look_cell(answer.question, observation), name(direction),
                     view(observation, [&](const Risk& r) { return Cell(r.kl(direction)); }),
                     bound_cell(bounds.contractive), cell_of(bounds.lipschitz),
                     bound_cell(bounds.path), cell_of(bounds.mu)});
    }
  }
  return table;
}

Table brief_risk_table(const QuadraticAnswer& answer) {
  const QuadraticQuestion& question = answer.question;
  const Delta delta{question.risk.deltas.front()};
  const Epsilon epsilon{question.risk.epsilons.front()};
  Table table("risk", "Risk if the parameters are seen once, in the worse direction",
              {look_column(question),
               {"advantage", "advantage", "", NumberStyle::probability},
               {"epsilon", fmt::format("epsilon({})", format_input(delta.probability()))},
               {"delta", fmt::format("delta({})", format_input(epsilon.nats())), "",
                NumberStyle::probability},
               {"kl", "KL", "nats"},
               {"excess_loss", "excess loss"}});
  const auto plain = [](auto claimed) {  // one sentence says how all of them are computed
    claimed.method.clear();
    return Cell(claimed);
  };
  for (const Observation& observation : answer.observations) {
    std::vector<Cell> row = {look_cell(question, observation)};
    row.push_back(view(observation, [&](const Risk& r) { return plain(r.advantage()); }));
    row.push_back(view(observation, [&](const Risk& r) { return plain(r.epsilon(delta)); }));
    row.push_back(view(observation, [&](const Risk& r) { return plain(r.delta(epsilon)); }));
    row.push_back(view(observation, [&](const Risk& r) {
      const Claimed<Nats> forward = r.kl(kForward);
      const Claimed<Nats> reverse = r.kl(kReverse);
      return plain(forward.value < reverse.value ? reverse : forward);
    }));
    const Known<Claimed<double>>& loss = observation.accuracy.d.excess_loss;
    row.push_back(loss.value ? plain(*loss.value) : cell_of(loss));
    table.add_row(std::move(row));
  }
  return table;
}

}  // namespace sfumato
