#include "sfumato/answers/rows/answer.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "sfumato/answers/rows/check.hpp"
#include "sfumato/answers/rows/keys.hpp"
#include "sfumato/answers/rows/setup.hpp"
#include "sfumato/core/located.hpp"
#include "sfumato/core/recording_observer.hpp"
#include "sfumato/privacy/neighbour_bounds.hpp"
#include "sfumato/privacy/ridge_rows.hpp"

namespace sfumato {
namespace {

void find_ridge(RowsAnswer& answer, const RegressionInput& input, const RowRiskOptions& options,
                Observer& observer) {
  const RidgeProblem problem(input.features, input.target, ridge_options(answer.question));
  answer.risks = row_risks(problem, options, observer);
}

void find_logistic(RowsAnswer& answer, const RegressionInput& input, const RowRiskOptions& options,
                   Observer& observer) {
  const RowsQuestion& question = answer.question;
  const ClassificationFit fit(
      ClassificationProblem::logistic(input.features, input.target, ridge_options(question)));
  ClassificationRows bounds = row_bounds(fit, options, observer);
  answer.risks = std::move(bounds.rows);
  answer.notes = std::move(bounds.notes);
  answer.norms = input.features.rowwise().norm();
  const Eigen::VectorXd scores = input.features * fit.convexity().minimiser;
  answer.fitted.resize(scores.size());
  for (Eigen::Index row = 0; row < scores.size(); ++row) {
    const double towards = input.target(row) == 1.0 ? scores(row) : -scores(row);
    answer.fitted(row) = 1.0 / (1.0 + std::exp(-towards));
  }
  const RowCheckOptions check{question.seed, 1024, 4e9, question.threads};
  answer.checks = check_riskiest(fit, options, answer.risks, checks_of(question), check, observer);
  for (const CheckedRow& checked : answer.checks) {
    if (checked.verdict() == Verdict::violated) answer.verdict = Verdict::violated;
  }
}

}  // namespace

RowsAnswer answer(const RowsQuestion& question, Observer& observer) {
  require_sense(question);
  return located(Where::in(question.table), [&] {
    RegressionInput input = read_table(question);
    const RowRiskOptions options = risk_options(question, input);
    RecordingObserver recorder(observer);
    RowsAnswer result{question, options.release};
    result.epsilons = options.epsilons;
    if (question.model == RowsModel::ridge) {
      find_ridge(result, input, options, recorder);
    } else {
      find_logistic(result, input, options, recorder);
    }
    for (const auto& [topic, message] : recorder.records()) {
      result.notes.push_back(fmt::format("{}: {}", topic, message));
    }
    result.stopped = observer.stop_requested();
    result.parameters = std::move(input.parameters);
    result.dropped = input.dropped;
    result.not_rescaled = std::move(input.not_rescaled);
    result.lines = std::move(input.lines);
    result.ids = std::move(input.ids);
    return result;
  });
}

}  // namespace sfumato
