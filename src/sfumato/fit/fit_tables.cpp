#include "sfumato/fit/fit_tables.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "sfumato/divergence/gdp.hpp"
#include "sfumato/report/number.hpp"

namespace sfumato {

using Eigen::Index;

namespace {

Claimed<double> estimate(double value) { return {value, Claim::estimate}; }

bool has_classes(const FitAnswer& answer) { return answer.model.coefficients.cols() > 1; }

/// Of the rows that the fit did not see; none where the noise hides it.
const HeldOut* resolved(const FitAnswer& answer) {
  return answer.held_out && answer.held_out->resolved ? &*answer.held_out : nullptr;
}

template <class Number>
std::function<Cell(const FitAnswer&)> of_held_out(Number number) {
  return [number](const FitAnswer& answer) {
    const HeldOut* held = resolved(answer);
    return held == nullptr ? Cell(Empty{}) : Cell(estimate(std::invoke(number, *held)));
  };
}

/// The intercept first, then the features as the table has them, all classes of each together.
std::vector<FitCoefficient> by_feature(const FitAnswer& answer) {
  const std::vector<FitCoefficient> all = coefficients_of(answer);
  const std::size_t classes = static_cast<std::size_t>(answer.model.coefficients.cols());
  const std::size_t each = all.size() / classes;
  std::vector<FitCoefficient> ordered;
  for (std::size_t j = 0; j < each; ++j) {
    const std::size_t row = j == 0 ? each - 1 : j - 1;
    for (std::size_t k = 0; k < classes; ++k) ordered.push_back(all[k * each + row]);
  }
  return ordered;
}

/// A part of the budget, and what it was spent on.
struct Spending {
  std::string release, rows;
  double mu, share;  ///< of all of it, in percent
};

std::vector<Spending> spendings_of(const FitAnswer& answer) {
  const FitPlan& plan = answer.plan;
  const double all = plan.mu * plan.mu;
  const std::string fitted =
      plan.holdout > 0.0 ? fmt::format("{} %", format_input(100.0 * (1.0 - plan.holdout))) : "all";
  std::vector<Spending> list;
  for (const FitRelease& release : plan.releases) {
    list.push_back({release.name, fitted, release.mu,
                    std::round(1000.0 * release.mu * release.mu / all) / 10.0});
  }
  if (!(plan.holdout > 0.0)) return list;
  const std::string other = fmt::format("the other {} %", format_input(100.0 * plan.holdout));
  const double half = answer.candidates > 1 ? 0.5 : 1.0;
  const double mu = std::sqrt(half) * plan.mu;
  if (answer.candidates > 1) list.push_back({"choice of the mechanism", other, mu, 100.0 * half});
  list.push_back({"accuracy", other, mu, 100.0 * half});
  return list;
}

/// What was declared of the table, of one column, or of its target.
struct Declared {
  std::string what;
  Cell value, missing = Empty{}, source = Empty{};
};

std::string range_text(double low, double high) {
  return fmt::format("{} to {}", format_input(low), format_input(high));
}

std::vector<Declared> declared_of(const FitAnswer& answer) {
  const PublicTable& known = answer.table;
  std::vector<Declared> list = {{"records, at most", known.rows},
                                {"neighbours", name(known.relation)},
                                {"norm of a row, at most", known.bound()}};
  for (std::size_t i = 0; i < known.features.size(); ++i) {
    const std::string source = i < known.sources.size() ? known.sources[i] : "";
    if (const auto* one = std::get_if<NumericColumn>(&known.features[i])) {
      list.push_back({one->name, range_text(one->low, one->high), name(one->missing), source});
    } else {
      const auto& category = std::get<CategoryColumn>(known.features[i]);
      list.push_back(
          {category.name,
           fmt::format("{} levels, reference {}", category.levels.size(), category.levels.front()),
           name(category.missing), source});
    }
  }
  list.push_back({known.target,
                  answer.plan.model == FitModel::ridge
                      ? range_text(known.target_low, known.target_high)
                      : fmt::format("{} classes", known.classes.size()),
                  "drop"});
  return list;
}

/// A setting of the plan; those that its mechanism does not have are left out.
struct Setting {
  std::string key;
  Cell value;
};

std::vector<Setting> settings_of(const FitPlan& plan) {
  std::vector<Setting> list = {{"mechanism", name(plan.mechanism())}, {"mu", plan.mu}};
  if (const PlannedDescent* descent = plan.descent()) {
    list.push_back({"steps", descent->steps});
    list.push_back({"average_last", descent->average_last});
    list.push_back({"learning_rate", descent->learning_rate});
    list.push_back({"noise_multiplier", descent->noise_multiplier});
    list.push_back({"clip_factor", descent->clip_factor});
  }
  if (plan.mechanism() == FitMechanism::statistics) list.push_back({"metric_share", 1.0});
  if (const PlannedMetric* metric = plan.metric()) {
    list.push_back({"metric_share", metric->share});
    list.push_back({"metric_rounds", metric->rounds});
  }
  if (plan.ridge() > 0.0) list.push_back({"ridge", plan.ridge()});
  list.push_back({"noise_mode", name(plan.noise_mode)});
  return list;
}

}  // namespace

std::vector<FitBound> bounds_of(const FitAnswer& answer) {
  std::vector<FitBound> list;
  if (answer.audit) {
    list.push_back({"audit", "audit", "audit with a canary, 99.9 %", answer.audit->mu});
  }
  if (answer.rows) {
    list.push_back(
        {"median", "median row here", "median row of this table", answer.rows->median, "median"});
    list.push_back(
        {"worst", "worst row here", "worst row of this table", answer.rows->worst, "worst"});
  }
  list.push_back({"guarantee",
                  "guarantee",
                  "guarantee, any row of any table",
                  {answer.plan.mu, Claim::upper_bound}});
  return list;
}

Claimed<double> FitCoefficient::away(double errors) const {
  return estimate(value + errors * error.value_or(0.0));
}

std::vector<FitCoefficient> coefficients_of(const FitAnswer& answer) {
  const LinearModel& model = answer.model;
  std::vector<FitCoefficient> list;
  for (Index k = 0; k < model.coefficients.cols(); ++k) {
    for (Index j = 0; j <= model.coefficients.rows(); ++j) {
      const bool intercept = j == model.coefficients.rows();
      FitCoefficient one{intercept ? "intercept" : model.features[static_cast<std::size_t>(j)],
                         {},
                         intercept ? model.intercept(k) : model.coefficients(j, k),
                         {}};
      if (has_classes(answer)) one.group = answer.table.classes[static_cast<std::size_t>(k)];
      if (model.errors) one.error = (*model.errors)(j);
      list.push_back(std::move(one));
    }
  }
  return list;
}

RowFields<FitAnswer> guarantee_fields(const FitAnswer& answer) {
  const auto if_guaranteed = [](auto number) {
    return
        [number](const FitAnswer& of) { return of.guarantee ? Cell(number(of)) : Cell(Empty{}); };
  };
  return {{.key = "epsilon",
           .title = "epsilon",
           .of = if_guaranteed([](const FitAnswer& of) { return of.guarantee->claimed_epsilon(); }),
           .result = "epsilon_upper",
           .at = {{"delta", answer.question.target_delta}}},
          {.key = "mu",
           .title = "mu",
           .of = if_guaranteed([](const FitAnswer& of) { return of.plan.mu; }),
           .result = "mu"},
          {.key = "accuracy",
           .title = answer.plan.model == FitModel::ridge ? "R^2" : "accuracy",
           .of = of_held_out(&HeldOut::value),
           .result = answer.plan.model == FitModel::ridge ? "r2" : "accuracy"},
          {.key = "standard_error",
           .title = "standard error",
           .of = of_held_out(&HeldOut::error),
           .result = "standard_error"}};
}

RowFields<FitAudit> audit_fields() {
  return {{.key = "mu",
           .title = "mu",
           .of = [](const FitAudit& audit) { return Cell(audit.mu); },
           .result = "mu_lower"},
          {.key = "maximum",
           .title = "maximum",
           .of = [](const FitAudit& audit) { return Cell(audit.maximum_mu); },
           .result = "maximum_auditable_mu"},
          {.key = "noticed",
           .title = "noticed from",
           .of =
               [](const FitAudit& audit) {
                 return std::isfinite(audit.noticed_mu) ? Cell(estimate(audit.noticed_mu))
                                                        : Cell(Empty{});
               },
           .result = "noticed_mu"}};
}

RowFields<FitBound> bound_fields(const FitAnswer& answer) {
  const Delta delta(answer.question.target_delta);
  return {
      {.key = "what", .title = "what", .of = [](const FitBound& of) { return Cell(of.title); }},
      {.key = "mu",
       .title = "mu",
       .of = [](const FitBound& of) { return Cell(of.mu); },
       .result = "row_mu"},
      {.key = "epsilon",
       .title = fmt::format("epsilon at {}", format_input(delta.probability())),
       .of = [delta](const FitBound& of) {
         const double mu = of.mu.value;
         return Cell(Claimed<double>{mu > 0.0 ? gdp_epsilon(mu, delta).nats() : 0.0, of.mu.claim});
       }}};
}

RowFields<FitCoefficient> coefficient_fields(const FitAnswer& answer) {
  using Row = FitCoefficient;
  const bool errors = answer.model.errors.has_value();
  return {
      {.key = "feature",
       .title = "feature",
       .of = [](const Row& row) { return Cell(row.feature); }},
      {.key = "class",
       .title = "class",
       .of = [](const Row& row) { return Cell(row.group.value_or("")); },
       .full = has_classes(answer)},
      {.key = "coefficient",
       .title = "coefficient",
       .of = [](const Row& row) { return row.error ? Cell(row.away(0.0)) : Cell(row.value); }},
      {.key = "low",
       .title = "95 % from",
       .of = [](const Row& row) { return Cell(row.away(-kNormal95)); },
       .full = errors},
      {.key = "high",
       .title = "to",
       .of = [](const Row& row) { return Cell(row.away(kNormal95)); },
       .full = errors},
      // What was released is exact; the table says what it tells about the truth.
      {.key = "value",
       .title = "coefficient",
       .of = [](const Row& row) { return Cell(row.value); },
       .full = false,
       .result = "coefficient"},
      {.key = "error",
       .title = "standard error",
       .of = [](const Row& row) { return row.error ? Cell(estimate(*row.error)) : Cell(Empty{}); },
       .full = false,
       .result = "coefficient_error"}};
}

Table bounds_table(const FitAnswer& answer) {
  return table_of("sandwich", "Privacy loss of the fit, from below and from above",
                  bound_fields(answer), bounds_of(answer));
}

Table coefficients_table(const FitAnswer& answer, Detail detail) {
  std::vector<FitCoefficient> rows = by_feature(answer);
  if (detail == Detail::brief && rows.size() > kBriefCoefficients) rows.resize(kBriefCoefficients);
  return table_of("coefficients", "Coefficients, in the units of the table",
                  shown(coefficient_fields(answer), Detail::full), rows,
                  has_classes(answer) ? 2 : 1);
}

Table budget_table(const FitAnswer& answer) {
  return table_of<Spending>(
      "budget", "How the budget was spent",
      {{.key = "release",
        .title = "release",
        .of = [](const Spending& one) { return Cell(one.release); }},
       {.key = "rows", .title = "rows", .of = [](const Spending& one) { return Cell(one.rows); }},
       {.key = "mu", .title = "mu", .of = [](const Spending& one) { return Cell(one.mu); }},
       {.key = "share",
        .title = "share of mu^2, %",
        .of = [](const Spending& one) { return Cell(one.share); }}},
      spendings_of(answer));
}

Table predictions_table(const FitAnswer& answer) {
  const FitMechanism used = answer.plan.mechanism();
  return table_of<FitPrediction>(
      "predictions", "Predicted loss by mechanism, before the table was opened",
      {{.key = "mechanism",
        .title = "mechanism",
        .of =
            [used](const FitPrediction& one) {
              return Cell(std::string(name(one.mechanism)) +
                          (one.mechanism == used ? " (used)" : ""));
            }},
       {.key = "loss",
        .title = "variance lost",
        .of = [](const FitPrediction& one) { return Cell(estimate(one.loss)); }},
       {.key = "what",
        .title = "what it is",
        .of = [](const FitPrediction& one) { return Cell(description(one.mechanism)); }}},
      answer.predictions);
}

Table settings_table(const FitAnswer& answer) {
  return table_of<Setting>(
      "settings", "Settings, from public quantities alone",
      {{.key = "setting", .title = "setting", .of = [](const Setting& s) { return Cell(s.key); }},
       {.key = "value", .title = "value", .of = [](const Setting& s) { return s.value; }}},
      settings_of(answer.plan));
}

Table public_table(const FitAnswer& answer) {
  return table_of<Declared>(
      "public", "Public before the table was opened",
      {{.key = "what", .title = "what", .of = [](const Declared& of) { return Cell(of.what); }},
       {.key = "value", .title = "declared", .of = [](const Declared& of) { return of.value; }},
       {.key = "missing",
        .title = "missing values",
        .of = [](const Declared& of) { return of.missing; }},
       {.key = "source", .title = "source", .of = [](const Declared& of) { return of.source; }}},
      declared_of(answer));
}

}  // namespace sfumato
