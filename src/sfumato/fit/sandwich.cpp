#include "sfumato/fit/sandwich.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "sfumato/divergence/gdp.hpp"
#include "sfumato/report/number.hpp"

namespace sfumato {

Table sandwich_table(const FitAnswer& answer) {
  const Delta delta(answer.question.target_delta);
  Table table("sandwich", "Privacy loss of the fit, from below and from above",
              {{"what", "what"},
               {"mu", "mu"},
               {"epsilon", fmt::format("epsilon at {}", format_input(delta.probability()))}});
  const auto add = [&](const char* what, const Claimed<double>& mu) {
    const double epsilon = mu.value > 0.0 ? gdp_epsilon(mu.value, delta).nats() : 0.0;
    table.add_row({what, mu, Claimed<double>{epsilon, mu.claim}});
  };
  if (answer.audit) add("audit with a canary, 99.9 %", answer.audit->mu);
  if (answer.rows) {
    add("median row of this table", answer.rows->median);
    add("worst row of this table", answer.rows->worst);
  }
  add("guarantee, any row of any table", {answer.plan.mu, Claim::upper_bound});
  return table;
}

Figure sandwich_figure(const FitAnswer& answer) {
  Axis sides{"bound"};
  std::vector<Series> all;
  const auto add = [&](const char* key, const char* title, const Claimed<double>& mu) {
    Series series{key, title, {static_cast<double>(all.size())}, {mu.value}};
    series.claim = mu.claim;
    sides.categories.emplace_back(title);
    all.push_back(std::move(series));
  };
  if (answer.audit) add("audit", "audit", answer.audit->mu);
  if (answer.rows) {
    add("median", "median row here", answer.rows->median);
    add("worst", "worst row here", answer.rows->worst);
  }
  add("guarantee", "guarantee", {answer.plan.mu, Claim::upper_bound});
  Figure shown("sandwich_figure", "Privacy loss mu of the fit, from below and from above",
               Mark::columns, sides, {"mu"});
  for (Series& series : all) shown.add(std::move(series));
  shown.set_caption(
      answer.rows ? "Rows against their absence, from the table itself: not for publication."
                  : fmt::format("{} fits with a canary and as many without.", answer.audit->runs));
  return shown;
}

}  // namespace sfumato
