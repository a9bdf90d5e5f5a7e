#include "sfumato/answers/bound/document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "sfumato/answers/bound/estimates.hpp"
#include "sfumato/report/figure.hpp"
#include "sfumato/report/number.hpp"

namespace sfumato {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

/// A KL, or why there is none. A printed formula claims nothing: a bare number.
Cell kl_cell(const KlBound& bound, bool printed) {
  if (!bound.reason.empty()) return Empty{bound.reason};
  if (printed) return bound.kl.value.value();
  Claimed<Nats> kl = bound.kl;
  kl.method.clear();  // it is what the row is about
  if (bound.kl.claim == Claim::estimate) kl.assumptions.clear();
  return kl;
}

/// Which method gave the smallest proven number of a direction.
const PairBound* best_of(const std::vector<PairBound>& methods, KlBound PairBound::*direction) {
  const PairBound* best = nullptr;
  for (const PairBound& method : methods) {
    const KlBound& bound = method.*direction;
    const bool proven = !method.printed && bound.kl.claim == Claim::upper_bound;
    if (!proven || !bound.reason.empty() || !std::isfinite(bound.kl.value.value())) continue;
    if (best == nullptr || bound.kl.value < (best->*direction).kl.value) best = &method;
  }
  return best;
}

/// What bounds that rest on the file's own statements must not be called.
const char* bounds_text(const BoundProblem& problem) {
  return problem.assumed.empty() ? "proven bounds" : "bounds as assumed";
}

Table method_table(const BoundProblem& problem, const BoundsAtTime& at, std::size_t index) {
  const std::string best =
      problem.assumed.empty() ? "best proven bound" : "best bound under the file's assumptions";
  Table table(fmt::format("bounds_{}", index + 1),
              fmt::format("Relative entropy at t = {}", format_input(at.time)),
              {{"method", "method"},
               {"kl_forward", "KL(D||D')", "nats"},
               {"kl_reverse", "KL(D'||D)", "nats"},
               {"note", "note"}});
  const PairBound* forward = best_of(at.methods, &PairBound::forward);
  const PairBound* reverse = best_of(at.methods, &PairBound::reverse);
  for (const PairBound& method : at.methods) {
    std::string note = method.note;
    const bool best_forward = &method == forward;
    const bool best_reverse = &method == reverse;
    if (best_forward || best_reverse) {
      note = best_forward && best_reverse ? best
             : best_forward               ? best + " of D||D'"
                                          : best + " of D'||D";
    }
    table.add_row({method.title, kl_cell(method.forward, method.printed),
                   kl_cell(method.reverse, method.printed), note});
  }
  return table;
}

/// One line per time and kind of evidence.
Table risk_table(const BoundProblem& problem, const std::vector<BoundsAtTime>& results) {
  Table table("risk", "What follows for an attacker who sees the parameters once",
              {{"time", "t"},
               {"evidence", "evidence"},
               {"kl_forward", "KL(D||D')", "nats"},
               {"kl_reverse", "KL(D'||D)", "nats"},
               {"advantage", "advantage", "", NumberStyle::probability},
               {"epsilon_forward", "epsilon D||D'"},
               {"epsilon_reverse", "epsilon D'||D"}},
              2);
  const Delta delta = problem.questions.deltas.front();
  for (const BoundsAtTime& at : results) {
    const auto add = [&](const char* evidence, const Risk& risk) {
      table.add_row({at.time, evidence, risk.kl(Direction::forward), risk.kl(Direction::reverse),
                     risk.advantage(), risk.epsilon(Direction::forward, delta),
                     risk.epsilon(Direction::reverse, delta)});
    };
    if (at.exact) add("exact laws", *at.exact);
    if (at.grid) {
      const auto grid = std::find_if(at.methods.begin(), at.methods.end(),
                                     [](const PairBound& m) { return m.key == "fokker_planck"; });
      const Empty none{"not computed from grids: their tails are too coarse"};
      table.add_row(
          {at.time, "grid", grid->forward.kl, grid->reverse.kl, at.grid->advantage, none, none});
    }
    if (at.proven) add(bounds_text(problem), *at.proven);
  }
  return table;
}

Table delta_table(const BoundProblem& problem, const std::vector<BoundsAtTime>& results) {
  Table table("delta", "delta(epsilon): largest p(A) - e^epsilon q(A)",
              {{"time", "t"},
               {"epsilon", "epsilon"},
               {"evidence", "evidence"},
               {"delta_forward", "delta D||D'", "", NumberStyle::probability},
               {"delta_reverse", "delta D'||D", "", NumberStyle::probability}},
              3);
  for (const BoundsAtTime& at : results) {
    for (std::size_t k = 0; k < problem.questions.epsilons.size(); ++k) {
      const Epsilon epsilon = problem.questions.epsilons[k];
      const auto add = [&](const char* evidence, const Risk& risk) {
        table.add_row({at.time, epsilon.nats(), evidence, risk.delta(Direction::forward, epsilon),
                       risk.delta(Direction::reverse, epsilon)});
      };
      if (at.exact) add("exact laws", *at.exact);
      if (at.grid) {
        table.add_row(
            {at.time, epsilon.nats(), "grid", at.grid->delta[0][k], at.grid->delta[1][k]});
      }
      if (at.proven) add(bounds_text(problem), *at.proven);
    }
  }
  return table;
}

/// KL(D||D') by every method over the finite times.
void add_figure(const std::vector<BoundsAtTime>& results, Document& document) {
  std::vector<Series> series;
  for (const BoundsAtTime& at : results) {
    if (!std::isfinite(at.time)) continue;
    for (const PairBound& method : at.methods) {
      const KlBound& bound = method.forward;
      if (!bound.reason.empty() || !std::isfinite(bound.kl.value.value())) continue;
      auto found = std::find_if(series.begin(), series.end(),
                                [&](const Series& s) { return s.key == method.key; });
      if (found == series.end()) {
        series.push_back({method.key, method.title, {}, {}});
        found = series.end() - 1;
        found->claim = bound.kl.claim;
        found->method = bound.kl.method;
      }
      found->x.push_back(at.time);
      found->y.push_back(bound.kl.value.value());
    }
  }
  if (series.empty()) return;
  Figure figure("kl_over_time", "KL(D||D') over time, by every method", Mark::line, {"t"},
                {"KL(D||D')", "nats", Scale::log});
  for (Series& s : series) figure.add(std::move(s));
  document.add(std::move(figure));
}

void state_problem(const BoundProblem& problem, Document& document) {
  document.state(
      StatementKind::info,
      "dX = b(X) dt + Sigma(X)^{1/2} dW on data D, with b' and Sigma' on data D'. Sigma is "
      "the diffusion covariance (variance per unit of time), not its root.");
  document.state(StatementKind::info,
                 problem.kind[0] == problem.kind[1]
                     ? fmt::format("D and D': {}.", problem.kind[0])
                     : fmt::format("D: {}. D': {}.", problem.kind[0], problem.kind[1]));
  if (!problem.way_of_change.empty()) {
    document.state(StatementKind::info, problem.way_of_change + ".");
  }
  if (!problem.defaults.empty()) document.state(StatementKind::info, problem.defaults);
  if (!same_start(problem.pair)) {
    document.state(StatementKind::info,
                   "The two starts differ: the KL of the starts is part of every number.");
  }
  for (const std::string& assumed : problem.assumed) {
    document.state(StatementKind::assumption, assumed + " (not checked).");
  }
  if (problem.plan.monte_carlo && problem.times.front() < kInf) {
    const SimulationSize size = simulation_size(problem);
    document.state(StatementKind::info,
                   fmt::format("Simulated rows: {} paths from seed {}, steps of {} and half of it, "
                               "extrapolated to 0; s.e. is one standard error in each direction.",
                               size.paths, problem.plan.seed, format_input(size.step)));
  }
  document.state(StatementKind::assumption,
                 "the attacker knows both equations and sees all parameters once, at time t; time "
                 "is continuous.");
}

/// Point starts with different noise (Spec §6.1), and bounds that are missing altogether.
void state_findings(const BoundProblem& problem, const std::vector<BoundsAtTime>& results,
                    Document& document) {
  const bool point = !is_definite(problem.pair.p.start.covariance) ||
                     !is_definite(problem.pair.q.start.covariance);
  if (!same_noise(problem.pair) && point) {
    document.state(
        StatementKind::warning,
        "point start and different noise: the integrated bounds are infinite, because the laws "
        "differ by their covariances from the first moment on. Give the start a covariance "
        "(start_covariance), or look at the discrete chain (sfumato quadratic).");
  }
  for (const BoundsAtTime& at : results) {
    if (at.proven || at.exact) continue;
    const bool would_help = common_noise(problem.pair).value.has_value();
    document.state(
        StatementKind::warning,
        fmt::format("t = {}: nothing here is proven, the numbers are estimates.{}",
                    format_input(at.time),
                    would_help ? " A bound on the difference of the drifts ([assume] sensitivity) "
                                 "would give one."
                               : ""));
    break;
  }
  // A proven bound below what a grid finds would be a bug of ours; say it rather than hide it.
  for (const BoundsAtTime& at : results) {
    if (!grid_is_above(at)) continue;
    document.state(
        StatementKind::warning,
        fmt::format("t = {}: the grid's KL is above a bound. {}", format_input(at.time),
                    problem.assumed.empty()
                        ? "Refine the grid; if it persists, this is a bug worth reporting."
                        : "What the file assumes is false."));
  }
  for (const BoundsAtTime& at : results) {
    for (const PairBound& method : at.methods) {
      if (!method.printed || method.note.find("INVALID") == std::string::npos) continue;
      document.state(
          StatementKind::info,
          "Rows \"as printed\" are the paper's own formulas, for comparison only: where a "
          "note says INVALID they are below the truth or without proof (docs/errata.md).");
      return;
    }
  }
}

}  // namespace

Document bound_document(const BoundProblem& problem, const std::vector<BoundsAtTime>& results,
                        bool stopped) {
  Document document = new_document("bound", problem.title);
  document.add_provenance("problem", problem.source);
  document.add_provenance("seed", std::to_string(problem.plan.seed));
  state_problem(problem, document);
  for (std::size_t i = 0; i < results.size(); ++i)
    document.add(method_table(problem, results[i], i));
  for (Table table : {risk_table(problem, results), delta_table(problem, results)}) {
    if (!table.rows().empty()) document.add(std::move(table));
  }
  add_figure(results, document);
  state_findings(problem, results, document);
  if (stopped) {
    document.state(StatementKind::warning, "stopped on request: what is missing was not computed.");
  }
  document.state(StatementKind::summary,
                 "Bounds for this one pair, not a differential-privacy guarantee, which would hold "
                 "for every pair.");
  return document;
}

}  // namespace sfumato
