#include "sfumato/bound/bound_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "sfumato/report/number.hpp"

namespace sfumato {
namespace {

constexpr const char* kExactEvidence = "exact";

/// A KL, or why there is none.
Cell kl_cell(const KlBound& bound) {
  if (!bound.reason.empty()) return Empty{bound.reason};
  Claimed<Nats> kl = bound.kl;
  kl.method.clear();  // it is what the row is about
  if (bound.kl.claim == Claim::estimate) kl.assumptions.clear();
  return kl;
}

std::string best_text(const BoundAnswer& answer) {
  return answer.question.problem.assumed.empty() ? "best proven bound"
                                                 : "best bound under the file's assumptions";
}

std::string note_of(const PairBound& method, const BoundsAtTime& at, const BoundAnswer& answer) {
  const bool forward = &method == best_proven(at.methods, &PairBound::forward);
  const bool reverse = &method == best_proven(at.methods, &PairBound::reverse);
  if (forward && reverse) return best_text(answer);
  if (forward || reverse) return best_text(answer) + (forward ? " of D||D'" : " of D'||D");
  return method.note;
}

/// The worse direction, where both are known.
Cell worse_cell(const KlBound& forward, const KlBound& reverse) {
  if (!forward.reason.empty() || !reverse.reason.empty()) return Empty{};
  Claimed<Nats> kl = forward.kl.value < reverse.kl.value ? reverse.kl : forward.kl;
  kl.method.clear();
  kl.assumptions.clear();
  return kl;
}

bool is_empty(const Cell& cell) { return std::holds_alternative<Empty>(cell.content()); }

}  // namespace

const char* bounds_text(const BoundAnswer& answer) {
  return answer.question.problem.assumed.empty() ? "proven bounds" : "bounds as assumed";
}

Table method_table(const BoundAnswer& answer, std::size_t index) {
  const BoundsAtTime& at = answer.at[index];
  Table table(fmt::format("bounds_{}", index + 1),
              fmt::format("Relative entropy at t = {}", format_input(at.time)),
              {{"method", "method"},
               {"kl_forward", "KL(D||D')", "nats"},
               {"kl_reverse", "KL(D'||D)", "nats"},
               {"note", "note"}});
  for (const PairBound& method : at.methods) {
    table.add_row({title(method.method), kl_cell(method.forward), kl_cell(method.reverse),
                   note_of(method, at, answer)});
  }
  return table;
}

Table method_by_time_table(const BoundAnswer& answer) {
  std::vector<Column> columns = {{"method", "method"}};
  for (std::size_t i = 0; i < answer.at.size(); ++i) {
    columns.push_back(
        {fmt::format("kl_{}", i + 1), fmt::format("t = {}", format_input(answer.at[i].time))});
  }
  Table table("bounds", "Relative entropy in nats, in the worse direction", std::move(columns));
  std::vector<Cell> best = {best_text(answer)};
  std::vector<BoundMethod> methods;  // in the order of the tables
  for (const BoundsAtTime& at : answer.at) {
    const Claimed<Nats> forward = best_proven_kl(at.methods, &PairBound::forward);
    const Claimed<Nats> reverse = best_proven_kl(at.methods, &PairBound::reverse);
    const bool finite =
        std::isfinite(forward.value.value()) && std::isfinite(reverse.value.value());
    best.push_back(finite ? worse_cell({forward, {}}, {reverse, {}}) : Cell(Empty{}));
    for (const PairBound& method : at.methods) {
      if (std::find(methods.begin(), methods.end(), method.method) == methods.end()) {
        methods.push_back(method.method);
      }
    }
  }
  if (std::any_of(best.begin() + 1, best.end(), [](const Cell& c) { return !is_empty(c); })) {
    table.add_row(std::move(best));
  }
  for (const BoundMethod method : methods) {
    std::vector<Cell> row = {title(method)};
    for (const BoundsAtTime& at : answer.at) {
      const auto found = std::find_if(at.methods.begin(), at.methods.end(),
                                      [&](const PairBound& m) { return m.method == method; });
      row.push_back(found == at.methods.end() ? Cell(Empty{})
                                              : worse_cell(found->forward, found->reverse));
    }
    if (std::any_of(row.begin() + 1, row.end(), [](const Cell& c) { return !is_empty(c); })) {
      table.add_row(std::move(row));
    }
  }
  return table;
}

Table bound_risk_table(const BoundAnswer& answer) {
  Table table("risk", "Implications for an attacker who sees the parameters once",
              {{"time", "t"},
               {"evidence", "evidence"},
               {"kl_forward", "KL(D||D')", "nats"},
               {"kl_reverse", "KL(D'||D)", "nats"},
               {"advantage", "advantage", "", NumberStyle::probability},
               {"epsilon_forward", "epsilon D||D'"},
               {"epsilon_reverse", "epsilon D'||D"}},
              2);
  const Delta delta{answer.question.risk.deltas.front()};
  for (const BoundsAtTime& at : answer.at) {
    const auto add = [&](const char* evidence, const Risk& risk) {
      table.add_row({at.time, evidence, risk.kl(Direction::forward), risk.kl(Direction::reverse),
                     risk.advantage(), risk.epsilon(Direction::forward, delta),
                     risk.epsilon(Direction::reverse, delta)});
    };
    if (at.exact) add(kExactEvidence, *at.exact);
    if (at.grid) {
      const auto grid = std::find_if(at.methods.begin(), at.methods.end(), [](const PairBound& m) {
        return m.method == BoundMethod::fokker_planck;
      });
      const Empty none{"not computed from grids: the tails are too coarse"};
      table.add_row(
          {at.time, "grid", grid->forward.kl, grid->reverse.kl, at.grid->advantage, none, none});
    }
    if (at.proven) add(bounds_text(answer), *at.proven);
  }
  return table;
}

Table bound_delta_table(const BoundAnswer& answer) {
  Table table("delta", "delta(epsilon): largest p(A) - e^epsilon q(A)",
              {{"time", "t"},
               {"epsilon", "epsilon"},
               {"evidence", "evidence"},
               {"delta_forward", "delta D||D'", "", NumberStyle::probability},
               {"delta_reverse", "delta D'||D", "", NumberStyle::probability}},
              3);
  for (const BoundsAtTime& at : answer.at) {
    for (std::size_t k = 0; k < answer.question.risk.epsilons.size(); ++k) {
      const Epsilon epsilon{answer.question.risk.epsilons[k]};
      const auto add = [&](const char* evidence, const Risk& risk) {
        table.add_row({at.time, epsilon.nats(), evidence, risk.delta(Direction::forward, epsilon),
                       risk.delta(Direction::reverse, epsilon)});
      };
      if (at.exact) add(kExactEvidence, *at.exact);
      if (at.grid) {
        table.add_row(
            {at.time, epsilon.nats(), "grid", at.grid->delta[0][k], at.grid->delta[1][k]});
      }
      if (at.proven) add(bounds_text(answer), *at.proven);
    }
  }
  return table;
}

Figure bound_figure(const BoundAnswer& answer) {
  std::vector<Series> series;
  for (const BoundsAtTime& at : answer.at) {
    if (!std::isfinite(at.time)) continue;
    for (const PairBound& method : at.methods) {
      const KlBound& bound = method.forward;
      if (!bound.reason.empty() || !std::isfinite(bound.kl.value.value())) continue;
      const std::string key(name(method.method));
      auto found =
          std::find_if(series.begin(), series.end(), [&](const Series& s) { return s.key == key; });
      if (found == series.end()) {
        series.push_back({key, std::string(title(method.method)), {}, {}});
        found = series.end() - 1;
        found->claim = bound.kl.claim;
        found->method = bound.kl.method;
      }
      found->x.push_back(at.time);
      found->y.push_back(bound.kl.value.value());
    }
  }
  double first = HUGE_VAL, last = 0.0;
  for (const Series& s : series) {
    first = std::min(first, s.x.front());
    last = std::max(last, s.x.back());
  }
  if (first == last) series.clear();  // one time: the table says it
  // Few times are points, not a curve; far apart they stand on a logarithmic axis.
  const bool few = answer.at.size() < 4;
  Axis time{"t"};
  if (first > 0.0 && last >= 10.0 * first) time.scale = Scale::log;
  Figure figure("kl_over_time", "KL(D||D') over time, by every method",
                few ? Mark::points : Mark::line, std::move(time),
                {"KL(D||D')", "nats", Scale::log});
  figure.set_caption(few ? "Lines need more times: --times 0.1,0.2,0.5,1,2,5,10 draws them."
                         : "The truth is at or below every curve of a proven bound.");
  for (Series& s : series) figure.add(std::move(s));
  return figure;
}

}  // namespace sfumato
