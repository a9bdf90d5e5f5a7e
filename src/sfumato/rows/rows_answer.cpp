#include "sfumato/rows/rows_answer.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "sfumato/core/located.hpp"
#include "sfumato/core/parallel.hpp"
#include "sfumato/core/recording_observer.hpp"
#include "sfumato/data/table.hpp"
#include "sfumato/rows/classification_check.hpp"
#include "sfumato/rows/fitted_rows.hpp"
#include "sfumato/rows/noise_search.hpp"
#include "sfumato/rows/row_views.hpp"
#include "sfumato/rows/rows_keys.hpp"

namespace sfumato {
namespace {

bool exceeds(const MonteCarloMean& estimate, const RiskNumber& bound) {
  return estimate.value - kAllowedErrors * estimate.standard_error > bound.value;
}

/// The `count` riskiest rows, checked one after the other until the observer asks to stop.
std::vector<CheckedRow> check_riskiest(const ClassificationFit& fit, const RowRiskOptions& options,
                                       const std::vector<RowRisk>& risks, std::size_t count,
                                       const RowCheckOptions& check, Observer& observer) {
  std::vector<CheckedRow> checked;
  for (const RowRisk* risk : riskiest(risks, count)) {
    if (observer.stop_requested()) break;
    checked.push_back({*risk, check_row(fit, risk->row, options, check, observer)});
  }
  return checked;
}

/// What explains the risk of a row of a logistic model: how long it is and how well it is fitted.
void explain(RowsAnswer& answer, const RegressionInput& input, const ClassificationFit& fit) {
  answer.norms = input.features.rowwise().norm();
  const Eigen::VectorXd scores = input.features * fit.convexity().minimiser;
  answer.fitted.resize(scores.size());
  for (Eigen::Index row = 0; row < scores.size(); ++row) {
    const double towards = input.target(row) == 1.0 ? scores(row) : -scores(row);
    answer.fitted(row) = 1.0 / (1.0 + std::exp(-towards));
  }
}

void compare_noises(RowsAnswer& answer, const FittedRows& model, RowRiskOptions options,
                    Observer& observer) {
  for (const double noise : answer.question.noises) {
    options.release = with_variance(options.release, noise);
    StageObserver stage(observer, fmt::format("rows at noise {}", noise));
    std::vector<RowRisk> risks = model.risks(options, stage, answer.notes);
    const bool stopped = observer.stop_requested();
    if (!stopped || answer.sweep.empty()) {
      answer.release = options.release;
      answer.risks = std::move(risks);
    }
    if (stopped) return;
    answer.sweep.push_back(noise_point(noise, answer.risks, model.cost(options.release)));
  }
  const std::vector<RowRisk> unlimited = risks_at_unlimited_noise(model, options, observer);
  if (!observer.stop_requested()) answer.floor = floor_of(unlimited);
}

void reach_goal(RowsAnswer& answer, const FittedRows& model, const RowRiskOptions& options,
                Observer& observer) {
  FoundNoise found = find_noise(model, options, *answer.question.goal, observer);
  answer.search = std::move(found.search);
  answer.floor = found.floor;
  answer.risks = std::move(found.at.risks);
  answer.notes = std::move(found.at.notes);
  if (!answer.search->reached) {
    answer.verdict = observer.stop_requested() ? Verdict::open : Verdict::violated;
    return;
  }
  answer.release = with_noise_times(options.release, answer.search->noise);
  if (const auto* variance = std::get_if<double>(&answer.question.noise)) {
    answer.search->noise *= *variance == 0.0 ? 1.0 : *variance;
  }
  answer.verdict = Verdict::holds;
}

/// Rows that are not known to be within the question's advantage.
void check_advantage(RowsAnswer& answer) {
  if (!answer.question.max_advantage) return;
  Verdict verdict = Verdict::holds;
  for (const RowRisk& risk : answer.risks) {
    const bool known = risk.status == RowStatus::ok && !std::isnan(risk.advantage.value);
    if (known && risk.advantage.value <= *answer.question.max_advantage) continue;
    answer.above.push_back(risk.row);
    const bool shown =
        risk.status == RowStatus::no_model || (known && risk.advantage.claim == Claim::exact);
    verdict = worst(verdict, shown ? Verdict::violated : Verdict::open);
  }
  answer.verdict = worst(answer.verdict, verdict);
}

void check_by_simulation(RowsAnswer& answer, const ClassificationFit& fit,
                         const RowRiskOptions& options, Observer& observer) {
  const RowsQuestion& question = answer.question;
  const RowCheckOptions check{question.seed, 1024, 4e9, question.threads};
  answer.checks = check_riskiest(fit, options, answer.risks, checks_of(question), check, observer);
  for (const CheckedRow& checked : answer.checks) {
    if (checked.verdict() == Verdict::violated) answer.verdict = Verdict::violated;
  }
}

/// All rows, before any is computed.
std::vector<RowRisk> not_computed(Eigen::Index rows) {
  std::vector<RowRisk> risks(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < risks.size(); ++i) risks[i].row = static_cast<Eigen::Index>(i);
  return risks;
}

void find_risks(RowsAnswer& answer, const RegressionInput& input, const RowRiskOptions& options,
                Observer& observer) {
  answer.risks = not_computed(input.features.rows());
  const FittedRows model(answer.question, input, observer);
  if (!answer.question.noises.empty()) {
    compare_noises(answer, model, options, observer);
  } else if (answer.question.goal) {
    reach_goal(answer, model, options, observer);
  } else {
    answer.risks = model.risks(options, observer, answer.notes);
  }
  const bool found = !answer.search || answer.search->reached;
  if (found && !observer.stop_requested()) answer.cost = model.cost(answer.release);
  if (const ClassificationFit* fit = model.classification()) {
    explain(answer, input, *fit);
    if (answer.question.noises.empty() && !answer.search) {
      check_by_simulation(answer, *fit, options, observer);
    }
  }
  check_advantage(answer);
}

}  // namespace

Verdict CheckedRow::verdict() const {
  if (check.paths == 0 || check.stationary) return Verdict::open;
  const bool above =
      exceeds(check.forward, risk.forward.kl) || exceeds(check.reverse, risk.reverse.kl);
  return above ? Verdict::violated : Verdict::not_refuted;
}

RowsAnswer answer(const RowsQuestion& question, Observer& observer) {
  require_sense(question);
  return located(Where::in(table_source(question.table)), [&] {
    RegressionInput input = read_table(question);
    const RowRiskOptions options = risk_options(question, input);
    RecordingObserver recorder(observer);
    RowsAnswer result{question, options.release};
    result.epsilons = options.epsilons;
    try {
      find_risks(result, input, options, recorder);
    } catch (const Stopped&) {  // while the sums of the table were taken
    }
    for (const auto& [topic, message] : recorder.records()) {
      result.notes.push_back(fmt::format("{}: {}", topic, message));
    }
    result.stopped = observer.stop_requested();
    result.parameters = std::move(input.parameters);
    result.dropped = input.dropped;
    result.not_rescaled = std::move(input.not_rescaled);
    result.codings = std::move(input.codings);
    result.spread = std::move(input.spread);
    result.lines = std::move(input.lines);
    result.ids = std::move(input.ids);
    return result;
  });
}

}  // namespace sfumato
