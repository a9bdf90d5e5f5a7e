#include "sfumato/answers/fit/answer.hpp"

#include <fmt/format.h>

#include "sfumato/answers/account/spent.hpp"
#include "sfumato/answers/fit/canary.hpp"
#include "sfumato/answers/fit/self_bounds.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/parallel.hpp"
#include "sfumato/data/array_file.hpp"
#include "sfumato/data/checksum.hpp"
#include "sfumato/data/file_input.hpp"
#include "sfumato/data/table_file.hpp"
#include "sfumato/fit/bounded_rows.hpp"
#include "sfumato/fit/prediction.hpp"
#include "sfumato/fit/private_fit.hpp"
#include "sfumato/fit/table_units.hpp"
#include "sfumato/report/number.hpp"

namespace sfumato {
namespace {

PublicTable public_table_of(const FitQuestion& question, std::string_view text) {
  const bool self = question.bounds == "self";
  PublicTable table =
      self ? bounds_of_table(question, text) : read_public_table(question.bounds, question.model);
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
  for (const FitMechanism mechanism : mechanisms_of(question.model, question.settings.noise_mode)) {
    const FitPlan plan = plan_fit(table, question.model, mechanism, question.settings, budget);
    predictions.push_back({mechanism, predicted_loss(plan, table)});
  }
  return predictions;
}

void require_use(const FitQuestion& question, const FitPlan& plan, const PublicTable& table) {
  const double loss = predicted_loss(plan, table);
  if (loss < 1.0 || question.force) return;
  throw InvalidArgument(
      fmt::format(
          "at this epsilon the noise is expected to cost {} times the variance of the target: the "
          "model would be useless",
          format_number(loss, Rounding::nearest, 2)),
      "Raise `target_epsilon`, use fewer features or more rows, or give --force",
      Where::key("target_epsilon"));
}

std::vector<std::string> caveats_of(const FitQuestion& question) {
  std::vector<std::string> caveats;
  if (question.bounds == "self") {
    caveats.emplace_back("ranges, levels and the number of rows were taken from the table itself");
  }
  if (question.seed) caveats.emplace_back("the noise comes from a seed, which takes it off again");
  return caveats;
}

}  // namespace

FitAnswer answer(const FitQuestion& question, Observer& observer) {
  // Read first, because a pipe can be read once; nothing of it is looked at before the plan is made.
  const std::string text = read_table_file(question.table);
  const PublicTable table = public_table_of(question, text);
  const FitBudget budget{{Epsilon(question.target_epsilon), Delta(question.target_delta)},
                         releases_before(question.after, table.relation)};
  const FitMechanism mechanism =
      question.mechanism ? *question.mechanism
                         : choose_mechanism(table, question.model, question.settings, budget);
  const FitPlan plan = plan_fit(table, question.model, mechanism, question.settings, budget);
  FitAnswer found{question, table, plan, budget, accountant_of(plan, table, budget)};
  found.caveats = caveats_of(question);
  if (question.bounds != "self") found.checksum = sha256(read_file(question.bounds));
  if (question.compare) found.predictions = predictions_of(question, table, budget);
  require_use(question, plan, table);
  try {
    const RowSource source = [&](const PublicTable& bounds) {
      return parse_bounded_rows(text, table_source(question.table), bounds, question.model);
    };
    const PrivateFit fit = private_fit(
        source, table, plan,
        question.seed ? ReleaseKey::from_seed(*question.seed) : ReleaseKey::from_system(),
        observer);
    found.model = in_units_of_table(fit, fit.table, question.model);
    found.used = fit.table;
    found.held_out = fit.held_out;
    found.no_intervals = fit.no_intervals;
    if (fit.metric && fit.metric->eigenvalues.minCoeff() >= fit.metric->ridge) {
      found.metric_gain =
          whitening_gain(fit.metric->eigenvalues, fit.metric->ridge, plan.metric_share).shape;
    }
    if (question.audit_runs > 0) {
      found.audit = audit_by_canary(table, plan, question, observer);
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
  return found;
}

std::string bounds_template(const FitQuestion& question) {
  return public_table_template(csv_head(question.table), question.target);
}

}  // namespace sfumato
