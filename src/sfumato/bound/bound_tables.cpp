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

constexpr NumberStyle kProbability = NumberStyle::probability;

/// A KL, or why there is none.
Cell kl_cell(const KlBound& bound) {
  if (!bound.reason.empty()) return Empty{bound.reason};
  return bound.kl;
}

/// The same in a table whose row is about the method, which says what an estimate assumes.
Cell kl_in_table(const KlBound& bound) {
  if (!bound.reason.empty()) return Empty{bound.reason};
  Claimed<Nats> kl = bound.kl;
  kl.method.clear();
  if (kl.claim == Claim::estimate) kl.assumptions.clear();
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

/// A method at one time.
struct MethodRow {
  const BoundsAtTime* at;
  const PairBound* method;
};

std::vector<MethodRow> methods_at(const BoundsAtTime& at) {
  std::vector<MethodRow> rows;
  for (const PairBound& method : at.methods) rows.push_back({&at, &method});
  return rows;
}

RowFields<MethodRow> kl_fields(Cell (*cell)(const KlBound&)) {
  return {{.key = "kl_forward",
           .title = "KL(D||D')",
           .of = [cell](const MethodRow& row) { return cell(row.method->forward); },
           .unit = "nats",
           .result = "kl_forward"},
          {.key = "kl_reverse",
           .title = "KL(D'||D)",
           .of = [cell](const MethodRow& row) { return cell(row.method->reverse); },
           .unit = "nats",
           .result = "kl_reverse"}};
}

/// What is known of an attacker at one time from one kind of evidence.
struct Evidence {
  const BoundsAtTime* at;
  const char* key;    ///< for programs
  const char* title;  ///< in tables
  const Risk* risk;   ///< null of a grid
};

std::vector<Evidence> evidence_of(const BoundAnswer& answer) {
  std::vector<Evidence> list;
  for (const BoundsAtTime& at : answer.at) {
    if (at.exact) list.push_back({&at, "exact", "exact", &*at.exact});
    if (at.proven) list.push_back({&at, "bound", bounds_text(answer), &*at.proven});
    if (at.grid) list.push_back({&at, "grid", "grid", nullptr});
  }
  return list;
}

Cell kl_of(const Evidence& evidence, Direction direction) {
  if (evidence.risk != nullptr) return evidence.risk->kl(direction);
  const auto grid = std::find_if(
      evidence.at->methods.begin(), evidence.at->methods.end(),
      [](const PairBound& method) { return method.method == BoundMethod::fokker_planck; });
  return direction == Direction::forward ? grid->forward.kl : grid->reverse.kl;
}

/// A getter of an epsilon, which grids do not give.
template <class View>
auto of_tails(View view) {
  return [view](const Evidence& evidence) -> Cell {
    if (evidence.risk == nullptr) {
      return Empty{"not computed from grids: the tails are too coarse"};
    }
    return view(*evidence.risk);
  };
}

RowField<Evidence> time_field() {
  return {.key = "time", .title = "t", .of = [](const Evidence& evidence) {
            return Cell(evidence.at->time);
          }};
}
RowField<Evidence> evidence_field() {
  return {.key = "evidence", .title = "evidence", .of = [](const Evidence& evidence) {
            return Cell(evidence.title);
          }};
}

/// Every number about an attacker: in tables both directions, as results the worse one.
RowFields<Evidence> attacker_fields(Delta delta) {
  const auto kl = [](Direction direction) {
    return [direction](const Evidence& evidence) { return kl_of(evidence, direction); };
  };
  const auto epsilon = [delta](Direction direction) {
    return of_tails([=](const Risk& risk) { return Cell(risk.epsilon(direction, delta)); });
  };
  return {{.key = "kl_forward", .title = "KL(D||D')", .of = kl(Direction::forward), .unit = "nats"},
          {.key = "kl_reverse", .title = "KL(D'||D)", .of = kl(Direction::reverse), .unit = "nats"},
          {.key = "advantage",
           .title = "advantage",
           .of =
               [](const Evidence& evidence) {
                 return Cell(evidence.risk != nullptr ? evidence.risk->advantage()
                                                      : evidence.at->grid->advantage);
               },
           .style = kProbability,
           .result = "advantage"},
          {.key = "epsilon_forward", .title = "epsilon D||D'", .of = epsilon(Direction::forward)},
          {.key = "epsilon_reverse", .title = "epsilon D'||D", .of = epsilon(Direction::reverse)},
          {.key = "epsilon",
           .title = "epsilon",
           .of = of_tails([delta](const Risk& risk) { return Cell(risk.epsilon(delta)); }),
           .full = false,
           .result = "epsilon",
           .at = {{"delta", delta.probability()}}}};
}

/// The evidence at one of the epsilons that are asked for.
struct EvidenceAt {
  const Evidence* evidence;
  std::size_t epsilon;

  [[nodiscard]] const Evidence& seen() const { return *evidence; }
};

}  // namespace

const char* bounds_text(const BoundAnswer& answer) {
  return answer.question.problem.assumed.empty() ? "proven bounds" : "bounds as assumed";
}

Table method_table(const BoundAnswer& answer, std::size_t index) {
  const BoundsAtTime& at = answer.at[index];
  RowFields<MethodRow> fields = {
      {.key = "method", .title = "method", .of = [](const MethodRow& row) {
         return Cell(title(row.method->method));
       }}};
  fields = joined(std::move(fields), kl_fields(kl_in_table));
  fields.push_back({.key = "note", .title = "note", .of = [&answer](const MethodRow& row) {
                      return Cell(note_of(*row.method, *row.at, answer));
                    }});
  return table_of(fmt::format("bounds_{}", index + 1),
                  fmt::format("Relative entropy at t = {}", format_input(at.time)), fields,
                  methods_at(at));
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
  const Delta delta{answer.question.risk.deltas.front()};
  return table_of(
      "risk", "Implications for an attacker who sees the parameters once",
      joined({time_field(), evidence_field()}, shown(attacker_fields(delta), Detail::full)),
      evidence_of(answer), 2);
}

Table bound_delta_table(const BoundAnswer& answer) {
  const std::vector<double>& epsilons = answer.question.risk.epsilons;
  const std::vector<Evidence> evidence = evidence_of(answer);
  std::vector<EvidenceAt> rows;
  for (const BoundsAtTime& at : answer.at) {
    for (std::size_t k = 0; k < epsilons.size(); ++k) {
      for (const Evidence& of : evidence) {
        if (of.at == &at) rows.push_back({&of, k});
      }
    }
  }
  const auto delta = [&](Direction direction) {
    return [&epsilons, direction](const EvidenceAt& row) -> Cell {
      const Evidence& of = row.seen();
      if (of.risk != nullptr) return of.risk->delta(direction, Epsilon{epsilons[row.epsilon]});
      return of.at->grid->delta[direction == Direction::forward ? 0 : 1][row.epsilon];
    };
  };
  return table_of<EvidenceAt>(
      "delta", "delta(epsilon): largest p(A) - e^epsilon q(A)",
      {through<EvidenceAt>(&EvidenceAt::seen, time_field()),
       {.key = "epsilon",
        .title = "epsilon",
        .of = [&](const EvidenceAt& row) { return Cell(epsilons[row.epsilon]); }},
       through<EvidenceAt>(&EvidenceAt::seen, evidence_field()),
       {.key = "delta_forward",
        .title = "delta D||D'",
        .of = delta(Direction::forward),
        .style = kProbability},
       {.key = "delta_reverse",
        .title = "delta D'||D",
        .of = delta(Direction::reverse),
        .style = kProbability}},
      rows, 3);
}

void add_results(const BoundAnswer& answer, Document& document) {
  const Delta delta{answer.question.risk.deltas.front()};
  std::vector<Evidence> evidence = evidence_of(answer);
  std::stable_partition(evidence.begin(), evidence.end(),  // what is proven before what is not
                        [](const Evidence& of) { return of.risk != nullptr; });
  for (const BoundsAtTime& at : answer.at) {
    for (const MethodRow& row : methods_at(at)) {
      add_results(document, kl_fields(kl_cell), row,
                  {{"by", name(row.method->method)}, {"time", at.time}}, Missing::left_out);
    }
    for (const Evidence& of : evidence) {
      if (of.at != &at) continue;
      add_results(document, attacker_fields(delta), of, {{"evidence", of.key}, {"time", at.time}},
                  Missing::left_out);
    }
  }
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
