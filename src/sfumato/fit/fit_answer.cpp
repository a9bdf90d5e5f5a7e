#include "sfumato/fit/fit_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <functional>
#include <numbers>
#include <set>
#include <variant>
#include <vector>

#include "sfumato/account/budget_booking.hpp"
#include "sfumato/account/large_delta.hpp"
#include "sfumato/account/spent.hpp"
#include "sfumato/audit/score_audit.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/memory.hpp"
#include "sfumato/core/parallel.hpp"
#include "sfumato/core/suggest.hpp"
#include "sfumato/data/array.hpp"
#include "sfumato/data/checksum.hpp"
#include "sfumato/data/csv_records.hpp"
#include "sfumato/data/file_input.hpp"
#include "sfumato/data/table.hpp"
#include "sfumato/data/text.hpp"
#include "sfumato/divergence/gdp.hpp"
#include "sfumato/fit/bounded_rows.hpp"
#include "sfumato/fit/canary.hpp"
#include "sfumato/fit/fit_question.hpp"
#include "sfumato/fit/linear_model.hpp"
#include "sfumato/fit/mechanism.hpp"
#include "sfumato/fit/private_fit.hpp"
#include "sfumato/fit/selection.hpp"
#include "sfumato/report/number.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Takes the scaling of the features, and of a quantity, back.
LinearModel in_units_of_table(const PrivateFit& fit, const PublicTable& table, FitModel model) {
  const Index d = table.dim();
  // Original parameters = change * parameters + shift, the intercept last; without one, it is what the middles of the ranges leave.
  const Index slopes = table.intercept ? d - 1 : d;
  MatrixXd change = MatrixXd::Zero(slopes + 1, d);
  Index at = 0;
  for (const FeatureColumn& column : table.features) {
    if (const auto* numeric = std::get_if<NumericColumn>(&column)) {
      const double half = 0.5 * numeric->high - 0.5 * numeric->low;
      const double middle = 0.5 * numeric->low + 0.5 * numeric->high;
      change(at, at) = 1.0 / half;
      change(slopes, at) = -middle / half;
    } else {
      change(at, at) = 1.0;
    }
    const Index next = at + width_of(column);
    for (++at; at < next; ++at) change(at, at) = 1.0;
  }
  if (table.intercept) change(slopes, d - 1) = 1.0;
  const MatrixXd all = change * fit.parameters;
  LinearModel linear;
  linear.features = table.parameters();
  if (table.intercept) linear.features.pop_back();
  linear.coefficients = all.topRows(slopes);
  linear.intercept = all.row(slopes).transpose();
  if (model == FitModel::ridge) {
    linear.intercept.array() += 0.5 * table.target_low + 0.5 * table.target_high;
  }
  if (fit.covariance) {
    linear.errors = (change * *fit.covariance * change.transpose()).diagonal().cwiseSqrt();
  }
  return linear;
}

/// A column as it is found.
struct SeenColumn {
  std::string name;
  bool numeric = true;
  double low = 0.0, high = 0.0;
  bool any = false;
  std::set<std::string> levels;
};
constexpr std::size_t kMostLevels = 200;

void look(CsvRecords& records, std::size_t field, SeenColumn* column) {
  if (is_missing(records.fields()[field])) return;  // no level, no class and no number
  if (column->levels.size() <= kMostLevels) column->levels.emplace(records.text(field));
  const ParsedNumber parsed = number_of(records.fields()[field]);
  if (parsed.status == NumberStatus::out_of_range) return;
  if (parsed.status != NumberStatus::ok) {
    column->numeric = false;
    return;
  }
  column->low = column->any ? std::min(column->low, parsed.value) : parsed.value;
  column->high = column->any ? std::max(column->high, parsed.value) : parsed.value;
  column->any = true;
}

/// Ranges, levels and the number of rows as they are in the table itself: for trying things out. What is fitted with them has no guarantee.
/// `records` are those of the table, names first.
PublicTable bounds_of_table(const FitQuestion& question, CsvRecords records) {
  const std::string& source = records.source();
  if (!records.next()) {
    throw InvalidArgument("is empty", "Give a CSV file with a header row", Where::in(source));
  }
  std::vector<SeenColumn> columns;
  std::vector<std::string> names;
  for (const CsvField& field : records.fields()) {
    names.emplace_back(field.text);
    columns.push_back({names.back(), true, 0.0, 0.0, false, {}});
  }
  const MissingNumber missing = parse_missing(question.missing, Where::key("missing"));
  PublicTable table;
  while (records.next()) {
    if (records.blank()) continue;
    ++table.rows;
    for (std::size_t i = 0; i < std::min(columns.size(), records.fields().size()); ++i) {
      look(records, i, &columns[i]);
    }
  }
  table.target = question.target.empty() ? names.back() : question.target;
  if (std::find(names.begin(), names.end(), table.target) == names.end()) {
    throw InvalidArgument(fmt::format("has no column {}", shown(table.target)),
                          suggestion(table.target, names, "columns"), Where::in(source));
  }
  for (const SeenColumn& column : columns) {
    const std::vector<std::string> levels(column.levels.begin(), column.levels.end());
    if (column.name == table.target) {
      table.target_low = column.low, table.target_high = column.high;
      if (question.model != FitModel::ridge) table.classes = levels;
    } else if (column.numeric) {
      if (column.low < column.high) {
        table.features.emplace_back(NumericColumn{column.name, column.low, column.high, missing});
      }
    } else if (levels.size() > 1 && levels.size() <= kMostLevels) {
      table.features.emplace_back(CategoryColumn{column.name, levels, of_categories(missing)});
    }
  }
  return table;
}

double normal_quantile(double p) { return -std::numbers::sqrt2 * boost::math::erfc_inv(2.0 * p); }

/// Scores as they are expected of a mechanism with this mu: quantiles of N(0, 1) and N(mu, 1).
ScoreSample expected_scores(std::uint64_t runs, double mu) {
  ScoreSample sample;
  for (std::uint64_t i = 0; i < runs; ++i) {
    const double share = (static_cast<double>(i) + 0.5) / static_cast<double>(runs);
    sample.without.push_back(normal_quantile(share));
    sample.with.push_back(sample.without.back() + mu);
  }
  return sample;
}

/// The least mu, to three digits, of which so many fits show more than `proven`; `most` if they show no more of less.
double noticed_mu(std::uint64_t runs, const AuditOptions& options, double proven, double most) {
  double low = proven, high = most;
  while (high - low > 5e-4 * high) {
    const double middle = 0.5 * (low + high);
    const bool noticed = audit_scores(expected_scores(runs, middle), options).mu().value > proven;
    (noticed ? high : low) = middle;
  }
  return high;
}

/// Audits the implementation: fits of a table with one canary and of an empty one, told apart by their likelihood ratio, against the plan's mu.
FitAudit audit_by_canary(const PublicTable& table, const FitPlan& plan, const FitQuestion& question,
                         Observer& observer) {
  if (table.relation == NeighbouringRelation::replace_one) {
    throw InvalidArgument("the canary is a record against none, not against another",
                          "Audit with `adjacency` = add_remove: the implementation is the same",
                          Where::key("audit_runs"));
  }
  FitPlan whole = plan;
  whole.holdout = 0.0;
  const std::uint64_t runs = question.audit_runs;
  ScoreSample sample{std::vector<double>(runs), std::vector<double>(runs)};
  Observer nobody;  // a run is short: the blocks below report and stop
  const std::uint64_t done =
      parallel_blocks({"audit", runs, 16}, observer, [&](std::uint64_t first, std::uint64_t last) {
        for (std::uint64_t i = first; i < last; ++i) {
          const auto key = [&](std::uint64_t world) {
            return question.seed ? ReleaseKey::from_seed(*question.seed + 2 * i + world + 1)
                                 : ReleaseKey::from_system();
          };
          sample.with[i] = canary_score(table, whole, true, key(0), nobody);
          sample.without[i] = canary_score(table, whole, false, key(1), nobody);
        }
      });
  if (done < runs) throw Stopped{};
  AuditOptions options;
  options.confidence = 0.999;
  options.delta = Delta(question.target_delta);
  const Audit audit = audit_scores(sample, options);
  const Claimed<Epsilon> epsilon = audit.epsilon(options.delta);
  // N(0, 1) and N(mu, 1) do not overlap in so many quantiles.
  const double apart = 4.0 * std::fabs(normal_quantile(0.5 / static_cast<double>(runs))) + 1.0;
  const double maximum = audit_scores(expected_scores(runs, apart), options).mu().value;
  const bool enough = maximum > plan.fit_mu();
  FitAudit found{runs,
                 audit.mu(),
                 map(epsilon, [](Epsilon e) { return e.nats(); }),
                 plan.fit_mu(),
                 maximum,
                 enough ? noticed_mu(runs, options, plan.fit_mu(), apart) : HUGE_VAL,
                 enough ? Verdict::not_refuted : Verdict::open};
  // The mechanisms are Gaussian, hence mu refutes as well (Spec §25.1).
  if (found.mu.value > plan.fit_mu() ||
      epsilon.value.nats() > gdp_epsilon(plan.fit_mu(), options.delta).nats()) {
    found.verdict = Verdict::violated;
  }
  return found;
}

PublicTable public_table_of(const FitQuestion& question, const TableInput& input) {
  const bool self = question.bounds == "self";
  PublicTable table =
      self ? bounds_of_table(question, input.records())
           : read_public_table(question.bounds, question.model,
                               parse_missing(question.missing, Where::key("missing")));
  table.intercept = question.intercept;
  table.row_norm = question.row_norm;
  if (question.records) table.rows = *question.records;
  if (question.adjacency) table.relation = *question.adjacency;
  if (!question.target.empty() && question.target != table.target) {
    throw InvalidArgument(fmt::format("`target` = {} is not the target that the bounds declare, {}",
                                      question.target, table.target),
                          "Declare it there", Where::key("target"));
  }
  require_public(table, question.model);
  return table;
}

std::vector<FitPrediction> predictions_of(const FitQuestion& question, const PublicTable& table,
                                          const FitBudget& budget) {
  std::vector<FitPrediction> predictions;
  for (const FitMechanism mechanism : mechanisms_for(table, question.model, question.settings)) {
    FitSettings settings = question.settings;
    if (mechanism != FitMechanism::whitened) settings.interval_share = 0.0;
    const FitPlan plan = plan_fit(table, question.model, mechanism, settings, budget);
    predictions.push_back({mechanism, predicted_loss(plan, table)});
  }
  return predictions;
}

std::string cost_words(double loss) {
  return loss < 1.0 ? fmt::format("{:.0f} % of", 100.0 * loss)
                    : format_number(loss, Rounding::nearest, 2) + " times";
}

/// The predicted loss had nothing been released before.
double predicted_alone(const FitQuestion& question, const FitPlan& plan, const PublicTable& table,
                       FitBudget budget) {
  budget.before.clear();
  return predicted_loss(
      plan_fit(table, question.model, plan.mechanism(), question.settings, budget), table);
}

void require_use(const FitQuestion& question, const std::vector<FitPlan>& plans,
                 const PublicTable& table, const FitBudget& budget) {
  double loss = predicted_loss(plans.front(), table);
  for (const FitPlan& plan : plans) loss = std::min(loss, predicted_loss(plan, table));
  // Predictions are rather too good (docs/results/fit.md): half of it lost is mostly all of it.
  constexpr double kUseless = 0.5;
  if (loss < kUseless || question.accept_useless) return;
  if (!budget.before.empty() &&
      predicted_alone(question, plans.front(), table, budget) < kUseless) {
    throw InvalidArgument(
        fmt::format(
            "what was released before leaves too little of epsilon {} for this fit: privacy "
            "is expected to cost {} the variance that the features explain",
            question.target_epsilon, cost_words(loss)),
        "Raise `target_epsilon`, which is for all releases together, or give `accept_useless`",
        Where::key("target_epsilon"));
  }
  throw InvalidArgument(
      fmt::format("at this epsilon privacy is expected to cost {} the variance that the features "
                  "explain: the model would be useless",
                  cost_words(loss)),
      "Raise `target_epsilon`, use fewer features or more rows, or give `accept_useless`",
      Where::key("target_epsilon"));
}

/// tr(H) tr(P H P) / tr(P H)^2: the same descent with isotropic noise instead of P^{-1}, of the released spectrum (Spec §22.4).
double shape_gain(const ReleasedMetric& metric, double rows) {
  const double dim = metric.reach.sum();
  return metric.moments.trace() / rows * metric.reach.dot(metric.root.rowwise().squaredNorm()) /
         (dim * dim);
}

FitRows rows_of(const RowExposure& exposure) {
  std::vector<double> mu(static_cast<std::size_t>(exposure.mu_squared.size()), 0.0);
  for (std::size_t i = 0; i < mu.size(); ++i) {
    mu[i] = std::sqrt(exposure.mu_squared(static_cast<Eigen::Index>(i)));
  }
  if (mu.empty()) mu.push_back(0.0);
  std::sort(mu.begin(), mu.end());
  const Claim claim = exposure.exact ? Claim::exact : Claim::estimate;
  return {{mu[mu.size() / 2], claim}, {mu.back(), claim}};
}

/// Throws   InvalidArgument if matrices over pairs of columns do not fit into memory: before anything is booked or drawn, and from what is
///          declared alone.
void require_memory_for(const std::vector<FitPlan>& plans, const PublicTable& table) {
  constexpr double kMatrices = 10.0, kMostPartial = 16.0,
                   kRowsOfPartial = 1024.0;  // release_moments()
  for (const FitPlan& plan : plans) {
    if (!rules_of(plan.mechanism()).pairs_of_columns) continue;
    const double d = static_cast<double>(table.dim());
    const double partial =
        std::min(kMostPartial, std::ceil(static_cast<double>(table.rows) / kRowsOfPartial));
    require_memory(
        (kMatrices + partial) * sizeof(double) * d * d,
        fmt::format("the mechanism {} for {} columns", name(plan.mechanism()), table.dim()),
        "Use `mechanism` = isotropic, which needs no matrix over pairs of columns, or fewer "
        "columns",
        Where::here("fit"));
  }
}

/// Throws for what a booking would have to guess.
void require_bookable(const FitQuestion& question) {
  if (question.budget.empty()) {
    if (question.limit.empty()) return;
    throw InvalidArgument("limits a budget, and there is none", "Give `budget`, a file",
                          Where::key("limit"));
  }
  if (!question.after.empty()) {
    throw InvalidArgument(
        "a budget counts what was booked in it, and `after` counts a file: one release could count "
        "twice",
        "Give one of them", Where::key("budget"));
  }
  if (!has_guarantee(question)) {
    throw InvalidArgument("a fit without a guarantee has no cost that could be booked",
                          "Declare bounds and give no seed, or leave the budget out",
                          Where::key("budget"));
  }
}

std::vector<std::string> caveats_of(const FitQuestion& question) {
  std::vector<std::string> caveats;
  if (question.bounds == "self") {
    caveats.emplace_back("ranges, levels and the number of rows were taken from the table itself");
  }
  if (question.seed) caveats.emplace_back("the noise comes from a seed, which takes it off again");
  return caveats;
}

FitMechanism mechanism_of(const std::string& wanted) {
  std::vector<std::string> names;
  for (const FitMechanism mechanism : fit_mechanisms()) {
    if (name(mechanism) == wanted) return mechanism;
    names.emplace_back(name(mechanism));
  }
  throw InvalidArgument(fmt::format("`select`: there is no mechanism {}", shown(wanted)),
                        suggestion(wanted, names, "mechanisms"), Where::key("select"));
}

ReleaseKey key_of(const FitQuestion& question, std::uint64_t offset = 0) {
  return question.seed ? ReleaseKey::from_seed(*question.seed + offset) : ReleaseKey::from_system();
}

/// One plan, or one for each mechanism that is to be tried, with an equal share of the budget.
std::vector<FitPlan> plans_of(const FitQuestion& question, const PublicTable& table,
                              FitBudget budget) {
  if (question.select.empty()) {
    const FitMechanism mechanism =
        question.mechanism ? *question.mechanism
                           : choose_mechanism(table, question.model, question.settings, budget);
    return {plan_fit(table, question.model, mechanism, question.settings, budget)};
  }
  if (question.mechanism || question.select.size() < 2 || question.row_risks ||
      question.audit_runs > 0 || question.settings.holdout == 0.0) {
    throw InvalidArgument(
        "a choice needs two mechanisms or more and rows that are held out, and goes without "
        "`mechanism`, `row_risks` and `audit_runs`",
        "Choose first, or name one `mechanism`", Where::key("select"));
  }
  budget.share = 1.0 / static_cast<double>(question.select.size());
  std::vector<FitPlan> plans;
  for (const std::string& wanted : question.select) {
    const FitMechanism mechanism = mechanism_of(wanted);
    for (const FitPlan& plan : plans) {
      if (plan.mechanism() == mechanism) {
        throw InvalidArgument(fmt::format("`select` names {} twice", wanted),
                              "Every candidate costs: name each once", Where::key("select"));
      }
    }
    plans.push_back(plan_fit(table, question.model, mechanism, question.settings, budget));
  }
  return plans;
}

/// The chosen plan with everything that was spent on the choice.
FitPlan with_all_releases(const std::vector<FitPlan>& plans, std::size_t index, double mu) {
  FitPlan all = plans[index];
  all.mu = mu;
  all.releases.clear();
  for (const FitPlan& plan : plans) {
    for (FitRelease release : plan.releases) {
      if (plans.size() > 1)
        release.name = fmt::format("{}: {}", name(plan.mechanism()), release.name);
      all.releases.push_back(std::move(release));
    }
  }
  return all;
}

struct MadeFit {
  PrivateFit fit;
  std::size_t index;
};

/// `spend` is called when nothing can be refused any more, before the first noise is drawn.
MadeFit make_fit(const FitQuestion& question, const PublicTable& table,
                 const std::vector<FitPlan>& plans, double mu, const TableInput& input,
                 Observer& observer, const std::function<void()>& spend) {
  const ReadRows rows = read_rows(input.records(), table, question.model);
  spend();
  const RowSource source = [&](const PublicTable& bounds) {
    return bounded_rows(rows, bounds, question.model);
  };
  if (plans.size() == 1) {
    return {
        private_fit(source, table, plans.front(), key_of(question), observer, {question.row_risks}),
        0};
  }
  std::vector<ReleaseKey> keys;
  for (std::uint64_t k = 0; k <= plans.size(); ++k) keys.push_back(key_of(question, k));
  ChosenFit chosen = choose_fit(source, table, plans, mu, keys, observer);
  return {std::move(chosen.fit), chosen.index};
}

}  // namespace

FitAnswer answer(const FitQuestion& question, Observer& observer) {
  require_bookable(question);
  // Read first, because a pipe can be read once; nothing of it is looked at before the plan is made.
  const TableInput input(question.table, question.in_memory.get());
  const PublicTable table = public_table_of(question, input);
  require_small_delta(question.target_delta, table.rows, question.allow_large_delta);
  SpentBefore before = spent_before(question.after, table.relation);
  const FitBudget budget{{Epsilon(question.target_epsilon), Delta(question.target_delta)},
                         std::move(before.releases)};
  const std::vector<FitPlan> plans = plans_of(question, table, budget);
  const double mu = plans.front().mu * std::sqrt(static_cast<double>(plans.size()));
  const FitPlan everything = with_all_releases(plans, 0, mu);
  FitAnswer found{question, table, everything, budget, accountant_of(everything, table, budget)};
  for (const std::string& condition : before.rests_on) found.accountant.require(condition);
  found.candidates = plans.size();
  found.caveats = caveats_of(question);
  found.delta_warning = large_delta_warning(question.target_delta, table.rows);
  found.models_before = std::move(before.models);
  if (question.bounds != "self") found.checksum = sha256(read_file(question.bounds));
  if (question.compare) found.predictions = predictions_of(question, table, budget);
  require_use(question, plans, table, budget);
  require_memory_for(plans, table);
  std::optional<BudgetBooking> booking;
  try {
    const MadeFit made = make_fit(question, table, plans, mu, input, observer, [&] {
      if (!question.budget.empty()) {
        booking.emplace(question.budget, question.limit, found.accountant,
                        BookedRun{"fit", table.rows, question.allow_large_delta});
        found.booked = budget_text(booking->state());
      }
    });
    const PrivateFit& fit = made.fit;
    found.plan = with_all_releases(plans, made.index, mu);
    found.model = in_units_of_table(fit, fit.table, question.model);
    found.used = fit.table;
    found.held_out = fit.held_out;
    found.no_intervals = fit.no_intervals;
    if (fit.metric && fit.metric->reach.minCoeff() >= 0.5) {
      found.metric_gain = shape_gain(*fit.metric, found.plan.rows);
    }
    if (fit.exposure) found.rows = rows_of(*fit.exposure);
    if (question.audit_runs > 0) {
      found.audit = audit_by_canary(table, found.plan, question, observer);
      found.verdict = found.audit->verdict;
      if (found.verdict == Verdict::violated) {
        found.caveats.emplace_back("the audit found more than is proven: the implementation errs");
      }
    }
  } catch (const Stopped&) {
    found.stopped = true;
    return found;
  }
  if (found.caveats.empty()) {
    found.guarantee = found.accountant.guarantee(Delta(question.target_delta));
  }
  if (booking) booking->release(model_digest(found));
  return found;
}

std::string bounds_template(const FitQuestion& question) {
  return public_table_template(csv_head(question.table), question.target);
}

}  // namespace sfumato
