#include "sfumato/rows/rows_fields.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "sfumato/data/csv_writer.hpp"
#include "sfumato/rows/row_views.hpp"

namespace sfumato {
namespace {

using RiskField = RowField<RowRisk, RiskNumber>;

constexpr NumberStyle kProbability = NumberStyle::probability;

/// Below this, numbers are said to be below it: doubles have few digits there, or none.
constexpr double kLeastShown = 1e-300;

/// The same number and claim for text, CSV and JSON.
RiskNumber printable(const RiskNumber& number) {
  if (number.value > 0.0 && number.value < kLeastShown) return {kLeastShown, Claim::upper_bound};
  return number;
}

/// What is asked at an epsilon, in one direction or, as a result, in the worse.
void add_delta(RowFields<RowRisk, RiskNumber>& list, std::size_t k, Epsilon epsilon) {
  const std::string shown = format_input(epsilon.nats());
  const std::string key = fmt::format("{}", epsilon.nats());
  list.push_back({.key = "delta_forward_at_" + key,
                  .title = fmt::format("delta({}) D||D'", shown),
                  .of = [k](const RowRisk& r) { return r.forward.delta[k]; },
                  .style = kProbability});
  list.push_back({.key = "delta_reverse_at_" + key,
                  .title = fmt::format("delta({}) D'||D", shown),
                  .of = [k](const RowRisk& r) { return r.reverse.delta[k]; },
                  .style = kProbability});
}

RiskField worse_delta(std::size_t k, Epsilon epsilon) {
  const std::string key = fmt::format("delta_at_{}", epsilon.nats());
  return {.key = key,
          .title = fmt::format("delta({})", format_input(epsilon.nats())),
          .of = [k](const RowRisk& r) { return larger(r.forward.delta[k], r.reverse.delta[k]); },
          .style = kProbability,
          .full = false,
          .brief = 3,
          .result = key};
}

}  // namespace

RowFields<RowRisk, RiskNumber> risk_fields(const RowsAnswer& answer) {
  RowFields<RowRisk, RiskNumber> list{{.key = "advantage",
                                       .title = "advantage",
                                       .of = [](const RowRisk& r) { return r.advantage; },
                                       .style = kProbability,
                                       .brief = 1,
                                       .result = "advantage"}};
  if (answer.question.model == RowsModel::logistic) {
    list.push_back({.key = "mu", .title = "mu", .of = [](const RowRisk& r) { return r.mu; }});
  }
  list.push_back({.key = "kl_forward", .title = "KL(D||D')", .of = [](const RowRisk& r) {
                    return r.forward.kl;
                  }});
  list.push_back({.key = "kl_reverse", .title = "KL(D'||D)", .of = [](const RowRisk& r) {
                    return r.reverse.kl;
                  }});
  for (std::size_t k = 0; k < answer.epsilons.size(); ++k) add_delta(list, k, answer.epsilons[k]);
  const std::string delta = format_input(answer.question.delta);
  list.push_back({.key = "epsilon_forward",
                  .title = fmt::format("eps({}) D||D'", delta),
                  .of = [](const RowRisk& r) { return r.forward.epsilon; }});
  list.push_back({.key = "epsilon_reverse",
                  .title = fmt::format("eps({}) D'||D", delta),
                  .of = [](const RowRisk& r) { return r.reverse.epsilon; }});
  list.push_back({.key = "kl",
                  .title = "KL",
                  .of = [](const RowRisk& r) { return larger(r.forward.kl, r.reverse.kl); },
                  .full = false,
                  .result = "kl"});
  for (std::size_t k = 0; k < answer.epsilons.size(); ++k) {
    list.push_back(worse_delta(k, answer.epsilons[k]));
  }
  list.push_back(
      {.key = "epsilon",
       .title = fmt::format("eps({})", delta),
       .of = [](const RowRisk& r) { return larger(r.forward.epsilon, r.reverse.epsilon); },
       .full = false,
       .brief = 2,
       .result = "epsilon"});
  for (RiskField& field : list) {
    field.of = [of = std::move(field.of)](const RowRisk& risk) { return printable(of(risk)); };
  }
  return list;
}

RowFields<RowRisk, Claimed<double>> trait_fields(const RowsAnswer& answer) {
  if (answer.question.model == RowsModel::ridge) {
    return {
        {.key = "leverage", .title = "leverage", .of = [](const RowRisk& risk) {
           return Claimed<double>{risk.leverage.value, risk.leverage.claim, "hat-matrix diagonal"};
         }}};
  }
  return {
      {.key = "norm",
       .title = "|x|",
       .of =
           [&answer](const RowRisk& risk) {
             return Claimed<double>{answer.norms(risk.row), Claim::exact, "norm of the features"};
           }},
      {.key = "fitted", .title = "fit", .of = [&answer](const RowRisk& risk) {
         return Claimed<double>{answer.fitted(risk.row), Claim::exact,
                                "probability of the row's label at the minimiser"};
       }}};
}

Cell cell_of(const RiskNumber& number, const std::string& method) {
  if (std::isnan(number.value)) return Empty{"nothing is proven"};
  return Claimed<double>{number.value, number.claim, method};
}

void write_csv(const std::string& path, const RowsAnswer& answer, const WriteRules& rules) {
  const RowFields<RowRisk, RiskNumber> list = shown(risk_fields(answer), Detail::full);
  const RowFields<RowRisk, Claimed<double>> traits = trait_fields(answer);
  const bool named = !answer.ids.empty();
  std::vector<std::string> columns{"row"};
  if (named) columns.emplace_back("id");
  columns.insert(columns.end(), {"line", "status"});
  for (const auto& trait : traits) columns.push_back(trait.key);
  for (const auto& column : list) columns.push_back(column.key);
  columns.insert(columns.end(), {"claim", "upper_bounds"});
  CsvWriter out(path, columns, rules);
  for (const RowRisk& risk : answer.risks) {
    const auto at = static_cast<std::size_t>(risk.row);
    out.integer(risk.row + 1);
    if (named) out.text(answer.ids[at]);
    out.integer(static_cast<std::int64_t>(answer.lines[at])).text(name(risk.status));
    const bool known = risk.status == RowStatus::ok;
    for (const auto& trait : traits) known ? out.number(trait.of(risk).value) : out.text("");
    std::size_t exact = 0;
    std::string bounds;
    for (const auto& column : list) {
      const RiskNumber number = known ? column.of(risk) : RiskNumber{};
      if (std::isnan(number.value)) {
        out.text("");
        continue;
      }
      out.number(number.value);
      if (number.claim == Claim::exact) {
        ++exact;
      } else {
        bounds += (bounds.empty() ? "" : " ") + column.key;
      }
    }
    const Claim claim = exact > 0 ? Claim::exact : Claim::upper_bound;
    out.text(known ? name(claim) : "").text(exact > 0 ? bounds : "").end_row();
  }
  out.commit();
}

}  // namespace sfumato
