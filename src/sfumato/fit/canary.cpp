#include "sfumato/fit/canary.hpp"

#include <vector>

#include "sfumato/fit/mechanism.hpp"

namespace sfumato {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// The canary along the first axis, and a null record.
struct CanaryTable {
  BoundedRows rows, canary;
};

CanaryTable canary_table(const PublicTable& table, const FitPlan& plan, bool present) {
  const Index d = table.dim();
  CanaryTable made;
  made.canary.features = RowMajor::Zero(1, d);
  made.canary.features(0, 0) = plan.bound;
  made.canary.target =
      VectorXd::Constant(1, plan.model == FitModel::ridge ? table.target_bound() : 1.0);
  made.rows = made.canary;
  if (!present) {
    made.rows.features.setZero();
    made.rows.target(0) = plan.model == FitModel::ridge ? 0.0 : -1.0;
  }
  return made;
}

}  // namespace

double log_ratio(const MatrixXd& seen, const MatrixXd& shift, double noise_std) {
  return (seen.cwiseProduct(shift).sum() - 0.5 * shift.squaredNorm()) / (noise_std * noise_std);
}

ReleasedMetric metric_with_canary(const CanaryContext& context, double* score) {
  const auto& [rows, table, plan, key, observer] = context.made;
  ReleaseBits bits = context.made.bits(FitStream::moments);
  std::vector<MomentsRelease> trace;
  ReleasedMetric metric = release_metric(rows.features, table, plan, bits, observer, &trace);
  for (const MomentsRelease& release : trace) {
    RowMajor canary = in_metric(context.canary.features, release.base.root);
    shorten_rows(release.bound, &canary);
    *score +=
        log_ratio(release.moments.sum, canary.transpose() * canary, release.moments.noise_std);
  }
  return metric;
}

CanaryDescent descent_with_canary(const CanaryContext& context, const MatrixXd& root, double clip) {
  const auto& [rows, table, plan, key, observer] = context.made;
  const RowMajor seen = in_metric(rows.features, root);
  const RowMajor canary = in_metric(context.canary.features, root);
  const DescentPlan descent = descent_of(plan, clip);
  ReleaseBits bits = context.made.bits(FitStream::steps);
  std::vector<ReleasedStep> trace;
  CanaryDescent made{
      noisy_descent({seen, rows.target, plan.model}, static_cast<Index>(table.classes.size()),
                    descent, bits, observer, &trace),
      0.0};
  for (const ReleasedStep& step : trace) {
    const MatrixXd shift = clipped_gradient_sum({canary, context.canary.target, plan.model},
                                                step.at, clip, nullptr, observer);
    made.score += log_ratio(step.sum, shift, descent.noise_multiplier * clip);
  }
  return made;
}

double canary_score(const PublicTable& table, const FitPlan& plan, bool present,
                    const ReleaseKey& key, Observer& observer) {
  const CanaryTable made = canary_table(table, plan, present);
  return rules_of(plan.mechanism()).canary({{made.rows, table, plan, key, observer}, made.canary});
}

}  // namespace sfumato
