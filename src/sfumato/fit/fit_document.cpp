#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/divergence/gdp.hpp"
#include "sfumato/fit/fit_answer.hpp"
#include "sfumato/problem/closing.hpp"
#include "sfumato/report/figure.hpp"
#include "sfumato/report/number.hpp"
#include "sfumato/report/table.hpp"

namespace sfumato {

using Eigen::Index;

namespace {

/// Privacy loss from below and from above: what a canary shows, what the rows of this table add, what is proven of every table. Answers that were not
/// asked for are left out.
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

/// The same in one picture; there is an audit, or rows.
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

/// Shown around the epsilon that was taken.
constexpr double kFactors[] = {0.1, 0.18, 0.32, 0.56, 1.0, 1.8, 3.2, 5.6, 10.0};

double kept_at(const FitAnswer& answer, double epsilon) {
  FitBudget budget = answer.budget;
  budget.target.epsilon = Epsilon(epsilon);
  const FitPlan plan = plan_fit(answer.table, answer.plan.model, answer.plan.mechanism(),
                                answer.question.settings, budget);
  return std::max(0.0, 1.0 - predicted_loss(plan, answer.table));
}

/// What the fit would explain at other epsilons, the one that was taken marked: from public quantities and the released accuracy, so that it costs nothing.
/// None where several fits were made, or the prediction is of no use.
std::optional<Figure> by_epsilon_figure(const FitAnswer& answer) {
  if (answer.candidates > 1) return {};
  const double taken = answer.question.target_epsilon;
  const double kept = kept_at(answer, taken);
  if (!(kept > 0.0)) return {};
  // R^2 = (1 - lost) x what the features explain: the released R^2 tells the second factor.
  const bool released = answer.plan.model == FitModel::ridge && answer.held_out &&
                        answer.held_out->resolved && answer.held_out->value > 0.0;
  const double scale = released ? answer.held_out->value / kept : 1.0;
  Axis epsilons{"epsilon"};
  epsilons.scale = Scale::log;
  Axis explained{released ? "R^2" : "share kept of what the features explain"};
  explained.from = 0.0;
  Figure figure("by_epsilon", "Accuracy against epsilon, predicted", Mark::line, epsilons,
                explained);
  Series line{"predicted", "predicted", {}, {}};
  line.claim = Claim::estimate;
  for (const double factor : kFactors) {
    try {
      const double epsilon = factor * taken;
      line.y.push_back(scale * kept_at(answer, epsilon));
      line.x.push_back(epsilon);
    } catch (const InvalidArgument&) {
      continue;  // what was released before has spent it
    }
  }
  figure.add(std::move(line));
  Series here{"taken", released ? "this fit, released accuracy" : "this fit", {taken}, {}};
  here.y.push_back(released ? answer.held_out->value : kept);
  here.claim = Claim::estimate;
  here.mark = Mark::points;
  figure.add(std::move(here));
  figure.set_caption(
      released ? "From public quantities, through the accuracy that was released: it costs no "
                 "privacy, and is an order of magnitude."
               : "From public quantities alone: it costs no privacy, and is an order of "
                 "magnitude.");
  return figure;
}

constexpr double kNormal95 = 1.959963984540054;
constexpr std::size_t kBriefRows = 10;

std::string rounded(double value, int digits = 3) {
  return format_number(value, Rounding::nearest, digits);
}

void state_guarantee(const FitAnswer& answer, Document& document) {
  if (!answer.guarantee) {
    for (const std::string& caveat : answer.caveats) {
      document.state(StatementKind::warning,
                     fmt::format("NO GUARANTEE, and no epsilon: {}.", caveat));
    }
    return;
  }
  const Guarantee& guarantee = *answer.guarantee;
  document.state(
      StatementKind::verdict,
      fmt::format("epsilon <= {} at delta = {}, for all tables of at most {} records that {}{}.",
                  format_number(guarantee.epsilon().nats(), Rounding::up),
                  format_input(guarantee.delta().probability()), answer.table.rows,
                  describe_neighbours(guarantee.releases()),
                  answer.plan.noise_mode == NoiseMode::grid
                      ? ""
                      : " (idealised: noise in double precision)"),
      Outcome::good);
}

void state_accuracy(const FitAnswer& answer, Document& document) {
  if (!answer.held_out) {
    document.state(StatementKind::info,
                   "No rows were held out: nothing is known of the accuracy (`holdout`).");
    return;
  }
  const HeldOut& held = *answer.held_out;
  const char* what = answer.plan.model == FitModel::ridge ? "R^2" : "Accuracy";
  if (!held.resolved) {
    document.state(
        StatementKind::info,
        fmt::format("{}: the noise hides it; more rows or a larger epsilon would show it.", what));
    return;
  }
  document.state(
      StatementKind::info,
      fmt::format(
          "{} ~ {} +- {} (95 %), a private estimate from the {} % of the rows that the fit did "
          "not see.",
          what, rounded(held.value), rounded(kNormal95 * held.error, 2),
          format_input(100.0 * answer.plan.holdout)));
}

Table budget_table(const FitAnswer& answer) {
  Table table(
      "budget", "How the budget was spent",
      {{"release", "release"}, {"rows", "rows"}, {"mu", "mu"}, {"share", "share of mu^2, %"}});
  const double all = answer.plan.mu * answer.plan.mu;
  const std::string fitted =
      answer.plan.holdout > 0.0
          ? fmt::format("{} %", format_input(100.0 * (1.0 - answer.plan.holdout)))
          : "all";
  for (const FitRelease& release : answer.plan.releases) {
    table.add_row({release.name, fitted, release.mu,
                   std::round(1000.0 * release.mu * release.mu / all) / 10.0});
  }
  if (answer.plan.holdout > 0.0) {
    const std::string other =
        fmt::format("the other {} %", format_input(100.0 * answer.plan.holdout));
    const double half = answer.candidates > 1 ? 0.5 : 1.0;
    if (answer.candidates > 1) {
      table.add_row(
          {"choice of the mechanism", other, std::sqrt(half) * answer.plan.mu, 100.0 * half});
    }
    table.add_row({"accuracy", other, std::sqrt(half) * answer.plan.mu, 100.0 * half});
  }
  return table;
}

Claimed<double> estimate(double value) { return {value, Claim::estimate}; }

Table coefficients_table(const FitAnswer& answer, Detail detail) {
  const LinearModel& model = answer.model;
  const bool several = model.coefficients.cols() > 1;
  std::vector<Column> columns = {{"feature", "feature"}};
  if (several) columns.push_back({"class", "class"});
  columns.push_back({"coefficient", "coefficient"});
  if (model.errors) {
    columns.push_back({"low", "95 % from"});
    columns.push_back({"high", "to"});
  }
  Table table("coefficients", "Coefficients, in the units of the table", columns, several ? 2 : 1);
  const std::size_t outputs = static_cast<std::size_t>(model.coefficients.cols());
  std::size_t shown = 0;
  const auto add = [&](const std::string& feature, Index row) {
    for (std::size_t k = 0; k < outputs; ++k) {
      if (detail == Detail::brief && shown++ >= kBriefRows) return;
      const bool intercept = row == model.coefficients.rows();
      const auto column = static_cast<Index>(k);
      const double value = intercept ? model.intercept(column) : model.coefficients(row, column);
      std::vector<Cell> cells = {feature};
      if (several) cells.emplace_back(answer.table.classes[k]);
      cells.emplace_back(model.errors ? Cell(estimate(value)) : Cell(value));
      if (model.errors) {
        const double half = kNormal95 * (*model.errors)(row);
        cells.emplace_back(estimate(value - half));
        cells.emplace_back(estimate(value + half));
      }
      table.add_row(std::move(cells));
    }
  };
  add("intercept", model.coefficients.rows());
  for (Index j = 0; j < model.coefficients.rows(); ++j) {
    add(model.features[static_cast<std::size_t>(j)], j);
  }
  return table;
}

/// Which rule holds, and not how many records it is about: that number would be a release.
std::string missing_text(const PublicTable& table) {
  return fmt::format(
      "Missing values: {}. A record that is dropped contributes nothing, as does one without a "
      "target; how many there are is private.",
      describe_missing(table));
}

Table public_table(const FitAnswer& answer) {
  Table table("public", "Public before the table was opened",
              {{"what", "what"},
               {"value", "declared"},
               {"missing", "missing values"},
               {"source", "source"}});
  const PublicTable& known = answer.table;
  table.add_row({"records, at most", known.rows, Empty{}, Empty{}});
  table.add_row({"neighbours", std::string(name(known.relation)), Empty{}, Empty{}});
  table.add_row({"norm of a row, at most", known.bound(), Empty{}, Empty{}});
  for (std::size_t i = 0; i < known.features.size(); ++i) {
    const std::string source = i < known.sources.size() ? known.sources[i] : "";
    if (const auto* one = std::get_if<NumericColumn>(&known.features[i])) {
      table.add_row({one->name,
                     fmt::format("{} to {}", format_input(one->low), format_input(one->high)),
                     name(one->missing), source});
    } else {
      const auto& category = std::get<CategoryColumn>(known.features[i]);
      table.add_row(
          {category.name,
           fmt::format("{} levels, reference {}", category.levels.size(), category.levels.front()),
           name(category.missing), source});
    }
  }
  table.add_row({known.target,
                 answer.plan.model == FitModel::ridge
                     ? fmt::format("{} to {}", format_input(known.target_low),
                                   format_input(known.target_high))
                     : fmt::format("{} classes", known.classes.size()),
                 "drop", Empty{}});
  return table;
}

Table settings_table(const FitAnswer& answer) {
  Table table("settings", "Settings, from public quantities alone",
              {{"setting", "setting"}, {"value", "value"}});
  const FitPlan& plan = answer.plan;
  table.add_row({"mechanism", std::string(name(plan.mechanism()))});
  table.add_row({"mu", plan.mu});
  if (const PlannedDescent* descent = plan.descent()) {
    table.add_row({"steps", descent->steps});
    table.add_row({"average_last", descent->average_last});
    table.add_row({"learning_rate", descent->learning_rate});
    table.add_row({"noise_multiplier", descent->noise_multiplier});
    table.add_row({"clip_factor", descent->clip_factor});
  }
  const PlannedMetric* metric = plan.metric();
  if (plan.mechanism() == FitMechanism::statistics) table.add_row({"metric_share", 1.0});
  if (metric != nullptr) table.add_row({"metric_share", metric->share});
  if (metric != nullptr) table.add_row({"metric_rounds", metric->rounds});
  if (plan.ridge() > 0.0) table.add_row({"ridge", plan.ridge()});
  table.add_row({"noise_mode", std::string(name(plan.noise_mode))});
  return table;
}

Table predictions_table(const FitAnswer& answer) {
  Table table("predictions", "Predicted loss by mechanism, before the table was opened",
              {{"mechanism", "mechanism"}, {"loss", "variance lost"}, {"what", "what it is"}});
  for (const FitPrediction& one : answer.predictions) {
    const std::string mark = one.mechanism == answer.plan.mechanism() ? " (used)" : "";
    table.add_row({std::string(name(one.mechanism)) + mark, estimate(one.loss),
                   std::string(description(one.mechanism))});
  }
  return table;
}

/// What a feature changes from one end of its range to the other, or a level against the reference, with intervals: comparable across units.
Figure effects_figure(const FitAnswer& answer) {
  const LinearModel& model = answer.model;
  std::vector<double> widths;
  for (const FeatureColumn& column : answer.used.features) {
    const std::size_t first = widths.size();
    widths.resize(first + static_cast<std::size_t>(width_of(column)), 1.0);
    if (const auto* numeric = std::get_if<NumericColumn>(&column)) {
      widths[first] = numeric->high - numeric->low;
    }
  }
  Axis features{"feature"};
  features.categories = model.features;
  Figure figure("effects", "Effect of each feature over its range", Mark::columns, features,
                {answer.plan.model == FitModel::ridge ? answer.table.target : "log-odds"});
  Series series{"effect", "effect, with 95 % interval", {}, {}};
  series.claim = Claim::estimate;
  Intervals intervals;
  for (Index j = 0; j < model.coefficients.rows(); ++j) {
    const double width = widths[static_cast<std::size_t>(j)];
    const double value = width * model.coefficients(j, 0);
    const double half = width * kNormal95 * (*model.errors)(j);
    series.x.push_back(static_cast<double>(j));
    series.y.push_back(value);
    intervals.low.push_back(value - half);
    intervals.high.push_back(value + half);
  }
  series.y_intervals = intervals;
  figure.add(std::move(series));
  figure.set_caption("Intervals include the noise for privacy and sampling.");
  return figure;
}

/// Numbers about the rows of the table are no release: whoever reads them must hold the table.
void state_rows(const FitAnswer& answer, Document& document) {
  if (!answer.rows) return;
  document.state(StatementKind::warning,
                 "NOT FOR PUBLICATION: the risks of rows were computed from the table itself, "
                 "without noise. The model and its statement keep their guarantee; this page has "
                 "none.");
}

void state_audit(const FitAnswer& answer, Document& document) {
  if (!answer.audit) return;
  const FitAudit& audit = *answer.audit;
  const std::string found =
      fmt::format("{} fits with a canary and {} without show mu >= {} (99.9 %); proven is mu <= {}",
                  audit.runs, audit.runs, format_number(audit.mu.value, Rounding::down, 3),
                  format_number(audit.proven_mu, Rounding::up, 3));
  const std::string most = fmt::format("a perfect attack could show at most mu >= {}",
                                       format_number(audit.maximum_mu, Rounding::down, 3));
  switch (audit.verdict) {
    case Verdict::violated:
      document.state(StatementKind::verdict, fmt::format("VIOLATION: {}.", found), Outcome::bad);
      return;
    case Verdict::open:
      document.state(
          StatementKind::verdict,
          fmt::format("NOT ENOUGH RUNS: {}, and with so many fits {}. Raise --audit-runs.", found,
                      most),
          Outcome::open);
      return;
    default:
      // Neither good nor bad news: how much it is worth is what it would have noticed.
      document.state(
          StatementKind::verdict,
          fmt::format("NOT REFUTED: {}. So many fits would notice an implementation whose mu is "
                      "about {} or more; {}.",
                      found, format_number(audit.noticed_mu, Rounding::up, 3), most),
          Outcome::none);
  }
}

void add_results(const FitAnswer& answer, Document& document) {
  if (answer.guarantee) {
    document.add_result("epsilon_upper", answer.guarantee->claimed_epsilon(),
                        {{"delta", answer.question.target_delta}});
  }
  if (answer.guarantee) document.add_result("mu", answer.plan.mu);
  if (answer.held_out && answer.held_out->resolved) {
    document.add_result(answer.plan.model == FitModel::ridge ? "r2" : "accuracy",
                        estimate(answer.held_out->value));
    document.add_result("standard_error", estimate(answer.held_out->error));
  }
  const LinearModel& model = answer.model;
  for (Index k = 0; k < model.coefficients.cols(); ++k) {
    std::vector<std::pair<std::string, Cell>> of;
    if (model.coefficients.cols() > 1)
      of.emplace_back("class", answer.table.classes[static_cast<std::size_t>(k)]);
    for (Index j = 0; j <= model.coefficients.rows(); ++j) {
      const bool intercept = j == model.coefficients.rows();
      auto what = of;
      what.emplace_back("feature",
                        intercept ? "intercept" : model.features[static_cast<std::size_t>(j)]);
      document.add_result("coefficient", intercept ? model.intercept(k) : model.coefficients(j, k),
                          what);
      if (model.errors)
        document.add_result("coefficient_error", estimate((*model.errors)(j)), what);
    }
  }
  if (answer.audit) {
    document.add_result("mu_lower", answer.audit->mu);
    document.add_result("maximum_auditable_mu", answer.audit->maximum_mu);
    if (std::isfinite(answer.audit->noticed_mu)) {
      document.add_result("noticed_mu", estimate(answer.audit->noticed_mu));
    }
  }
  if (answer.rows) {
    document.add_result("row_mu", answer.rows->median, {{"row", "median"}});
    document.add_result("row_mu", answer.rows->worst, {{"row", "worst"}});
  }
}

Abstract abstract_of(const FitAnswer& answer) {
  Abstract abstract;
  abstract.released =
      fmt::format("The coefficients below, of a regression of {} on {}.", answer.table.target,
                  fmt::format("{} features", answer.model.features.size()));
  abstract.asked = "May these coefficients be published?";
  if (!answer.guarantee) {
    abstract.answer = "No: they carry no guarantee.";
    abstract.advice = answer.question.seed
                          ? "Use them for experiments, and fit once more without a seed."
                      : answer.question.bounds == "self"
                          ? "Declare public bounds (--template writes a file to fill in)."
                          : "Do not publish them: the warnings say why.";
    return abstract;
  }
  abstract.answer = fmt::format(
      "Yes: they are differentially private, epsilon <= {} at delta = {}, whatever the table.",
      format_number(answer.guarantee->epsilon().nats(), Rounding::up),
      format_input(answer.guarantee->delta().probability()));
  if (answer.held_out && answer.held_out->resolved) {
    abstract.cost = fmt::format("{} ~ {} +- {} (95 %) on rows that the fit did not see.",
                                answer.plan.model == FitModel::ridge ? "R^2" : "Accuracy",
                                rounded(answer.held_out->value),
                                rounded(kNormal95 * answer.held_out->error, 2));
  }
  abstract.advice = fmt::format(
      "Publish the coefficients and the guarantee, and nothing else of the table{}; fitting again "
      "spends the budget again.",
      answer.rows ? ", least of all the risks of rows on this page" : "");
  return abstract;
}

std::string title_of(const FitAnswer& answer) {
  const char* kind = answer.plan.model == FitModel::ridge      ? "linear"
                     : answer.plan.model == FitModel::logistic ? "logistic"
                                                               : "softmax";
  return fmt::format("Private {} regression of {}", kind, answer.table.target);
}

}  // namespace

Document document_of(const FitAnswer& answer, Detail detail) {
  Document document = new_document("fit", title_of(answer));
  if (!answer.checksum.empty()) document.add_provenance("bounds", answer.checksum);
  if (answer.stopped) {
    close_document(
        document, detail, true,
        "Stopped before the end: nothing may be published, and what was drawn counts as spent.");
    return document;
  }
  if (detail == Detail::full) document.set_abstract(abstract_of(answer));
  state_guarantee(answer, document);
  state_accuracy(answer, document);
  state_audit(answer, document);
  state_rows(answer, document);
  if (answer.candidates > 1) {
    document.state(StatementKind::info,
                   fmt::format("The held-out rows chose {} of {} fits, privately; all of them are "
                               "paid for.",
                               name(answer.plan.mechanism()), answer.candidates));
  }
  document.state(StatementKind::info, missing_text(answer.table));
  document.state(StatementKind::info,
                 fmt::format("Mechanism: {}; {}.", description(answer.plan.mechanism()),
                             answer.question.seed ? "repeatable noise from a seed"
                             : answer.plan.noise_mode == NoiseMode::grid
                                 ? "exact noise on a grid, from the operating system"
                                 : "noise in double precision, whose low bits are not protected"));
  if (answer.metric_gain && answer.plan.mechanism() == FitMechanism::whitened) {
    document.state(
        StatementKind::info,
        fmt::format("Shaped noise: ~ {} times less error than isotropic noise in the same descent "
                    "(from the released spectrum).",
                    rounded(*answer.metric_gain, 2)));
  }
  document.add(coefficients_table(answer, detail));
  const auto all =
      static_cast<std::size_t>(answer.model.coefficients.size() + answer.model.intercept.size());
  if (detail == Detail::brief && all > kBriefRows) {
    document.state(StatementKind::info,
                   fmt::format("These are {} of {} coefficients: --full shows all of them, --out "
                               "writes them.",
                               kBriefRows, all));
  }
  if (!answer.no_intervals.empty()) {
    document.state(StatementKind::info, fmt::format("No intervals: {}.", answer.no_intervals));
  }
  document.add(budget_table(answer));
  if (!answer.booked.empty()) document.state(StatementKind::info, answer.booked);
  if (answer.rows) document.add(sandwich_table(answer));
  if (!answer.predictions.empty()) document.add(predictions_table(answer));
  if (detail == Detail::full) {
    if (const std::optional<Figure> figure = by_epsilon_figure(answer)) document.add(*figure);
    if (answer.model.errors) document.add(effects_figure(answer));
    if (answer.audit || answer.rows) document.add(sandwich_figure(answer));
    document.add(settings_table(answer));
    document.add(public_table(answer));
    if (answer.guarantee) {
      for (const std::string& condition : conditions_of(answer.guarantee->releases())) {
        document.state(StatementKind::assumption, condition + ".");
      }
    }
  }
  if (answer.guarantee && !answer.delta_warning.empty()) {
    document.state(StatementKind::warning, answer.delta_warning);
  }
  if (answer.guarantee &&
      std::count(answer.table.sources.begin(), answer.table.sources.end(), "") > 0) {
    document.state(
        StatementKind::warning,
        "some bounds are declared without a source: a reader cannot tell that they were known "
        "without the table.");
  }
  document.state(
      StatementKind::assumption,
      "the table is well-formed (numbers where numbers are declared; others are refused before "
      "anything is released).");
  document.state(
      StatementKind::assumption,
      "the bounds come from outside the table, and nobody fits again because a result looks bad: "
      "every fit spends its own budget.");
  add_results(answer, document);
  close_document(
      document, detail, false,
      answer.guarantee && answer.rows
          ? "The model may be published with its statement; the table and this page may not."
      : answer.guarantee ? "The model may be published with its statement; the table may not."
                         : "For trying out only: this model has no guarantee.");
  return document;
}

}  // namespace sfumato
