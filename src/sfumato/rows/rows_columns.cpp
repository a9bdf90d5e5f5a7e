#include "sfumato/rows/rows_columns.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "sfumato/rows/ranking.hpp"

namespace sfumato {
namespace {

/// Below this, numbers are said to be below it: doubles have few digits there, or none.
constexpr double kLeastShown = 1e-300;

/// The same number and claim for text, CSV and JSON.
RiskNumber printable(const RiskNumber& number) {
  if (number.value > 0.0 && number.value < kLeastShown) return {kLeastShown, Claim::upper_bound};
  return number;
}

std::vector<RiskColumn> printable(std::vector<RiskColumn> columns) {
  for (RiskColumn& column : columns) {
    column.of = [of = std::move(column.of)](const RowRisk& risk) { return printable(of(risk)); };
  }
  return columns;
}

}  // namespace

std::vector<RiskColumn> all_columns(const RowsAnswer& answer) {
  constexpr auto general = NumberStyle::general;
  constexpr auto probability = NumberStyle::probability;
  std::vector<RiskColumn> list{
      {"advantage", "advantage", probability, [](const RowRisk& r) { return r.advantage; }}};
  if (answer.question.model == RowsModel::logistic) {
    list.push_back({"mu", "mu", general, [](const RowRisk& r) { return r.mu; }});
  }
  list.push_back(
      {"kl_forward", "KL(D||D')", general, [](const RowRisk& r) { return r.forward.kl; }});
  list.push_back(
      {"kl_reverse", "KL(D'||D)", general, [](const RowRisk& r) { return r.reverse.kl; }});
  for (std::size_t k = 0; k < answer.epsilons.size(); ++k) {
    const std::string eps = format_input(answer.epsilons[k].nats());
    const std::string digits = fmt::format("{}", answer.epsilons[k].nats());
    list.push_back({"delta_forward_at_" + digits, fmt::format("delta({}) D||D'", eps), probability,
                    [k](const RowRisk& r) { return r.forward.delta[k]; }});
    list.push_back({"delta_reverse_at_" + digits, fmt::format("delta({}) D'||D", eps), probability,
                    [k](const RowRisk& r) { return r.reverse.delta[k]; }});
  }
  const std::string delta = format_input(answer.question.delta);
  list.push_back({"epsilon_forward", fmt::format("eps({}) D||D'", delta), general,
                  [](const RowRisk& r) { return r.forward.epsilon; }});
  list.push_back({"epsilon_reverse", fmt::format("eps({}) D'||D", delta), general,
                  [](const RowRisk& r) { return r.reverse.epsilon; }});
  return printable(std::move(list));
}

std::vector<RiskColumn> worse_columns(const RowsAnswer& answer) {
  constexpr auto general = NumberStyle::general;
  constexpr auto probability = NumberStyle::probability;
  std::vector<RiskColumn> list{
      {"advantage", "advantage", probability, [](const RowRisk& r) { return r.advantage; }},
      {"kl", "KL", general, [](const RowRisk& r) { return larger(r.forward.kl, r.reverse.kl); }}};
  for (std::size_t k = 0; k < answer.epsilons.size(); ++k) {
    const std::string eps = format_input(answer.epsilons[k].nats());
    list.push_back({fmt::format("delta_at_{}", answer.epsilons[k].nats()),
                    fmt::format("delta({})", eps), probability, [k](const RowRisk& r) {
                      return larger(r.forward.delta[k], r.reverse.delta[k]);
                    }});
  }
  list.push_back({"epsilon", fmt::format("eps({})", format_input(answer.question.delta)), general,
                  [](const RowRisk& r) { return larger(r.forward.epsilon, r.reverse.epsilon); }});
  return printable(std::move(list));
}

std::vector<TraitColumn> trait_columns(const RowsAnswer& answer) {
  if (answer.question.model == RowsModel::ridge) {
    return {{"leverage", "leverage", "hat-matrix diagonal",
             [](const RowRisk& risk) { return risk.leverage; }}};
  }
  return {
      {"norm", "|x|", "norm of the features",
       [&norms = answer.norms](const RowRisk& risk) { return RiskNumber{norms(risk.row)}; }},
      {"fitted", "fit", "probability of the row's label at the minimiser",
       [&fitted = answer.fitted](const RowRisk& risk) { return RiskNumber{fitted(risk.row)}; }}};
}

Cell cell_of(const RiskNumber& number, const std::string& method) {
  if (std::isnan(number.value)) return Empty{"nothing is proven"};
  return Claimed<double>{number.value, number.claim, method};
}

}  // namespace sfumato
