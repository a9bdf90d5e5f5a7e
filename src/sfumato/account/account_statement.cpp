#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sfumato/account/account_answer.hpp"
#include "sfumato/account/accounted_run.hpp"
#include "sfumato/account/state.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato {

PrivacyStatement statement_of(const AccountAnswer& answer) {
  const Accountant& accountant = accountant_of(answer);
  const AccountedSetting& setting = answer.settings.front();
  StatementFacts facts =
      facts_of(accountant.guarantee(answer.delta), NoiseArithmetic::floating_point);
  if (setting.tuning) {
    const RunsDistribution runs = runs_of(answer.question.tuning);
    facts.tuning = fmt::format(
        "its cost is in epsilon: the best of a number of runs is released ({}); one run would "
        "have epsilon {:.4g}.",
        describe(runs), setting.tuning->untuned * (1.0 + 5e-4));
  }
  // The run in words, in place of the step that it is known as.
  if (!setting.behind.empty() && !facts.released.empty()) {
    facts.released.back() =
        fmt::format("{}{}", setting.tuning ? "the best run, each of them: " : "",
                    describe(setting.behind.front()));
  }
  facts.gdp = answer.gdp;
  facts.digest = account_digest({accountant}, answer.delta);
  return statement_of(facts);
}

std::string trade_off_text(const AccountAnswer& answer, bool as_json) {
  const Accountant& accountant = accountant_of(answer);
  std::vector<double> rates;
  for (int i = -80; i <= 0; ++i) rates.push_back(std::pow(10.0, 0.1 * i));
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  std::string csv = "fpr,tpr_at_most,fnr_at_least\n";
  for (const AttackRate& rate : accountant.trade_off(rates)) {
    const double missed = std::max(0.0, 1.0 - rate.tpr.value);  // exact from 1/2 on, rounded below
    const double least = missed * (1.0 - 4e-16);
    csv += fmt::format("{},{},{}\n", rate.fpr, rate.tpr.value, least);
    list.push_back({{"fpr", rate.fpr}, {"tpr_at_most", rate.tpr.value}, {"fnr_at_least", least}});
  }
  if (!as_json) return csv;
  nlohmann::ordered_json json = {{"trade_off_version", 1},
                                 {"adjacency", name(accountant.releases().relation)},
                                 {"account_sha256", account_digest({accountant}, answer.delta)},
                                 {"points", list}};
  return json.dump(2) + "\n";
}

}  // namespace sfumato
