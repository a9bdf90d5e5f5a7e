#include "sfumato/fit/private_fit.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sfumato/fit/evaluate.hpp"
#include "sfumato/fit/intervals.hpp"
#include "sfumato/fit/mechanism.hpp"

namespace sfumato {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

void expose_moments(const RowMajor& rows, double noise_std, RowExposure* exposure) {
  exposure->mu_squared.array() += (rows.rowwise().squaredNorm().array() / noise_std).square();
}

void expose_metric(const RowMajor& features, const std::vector<MomentsRelease>& rounds,
                   RowExposure* exposure) {
  for (const MomentsRelease& round : rounds) {
    RowMajor rows = in_metric(features, round.base.root);
    shorten_rows(round.bound, &rows);
    expose_moments(rows, round.moments.noise_std, exposure);
  }
  exposure->exact = exposure->exact && rounds.size() <= 1;
}

void expose_descent(const DescentRows& rows, const DescentPlan& plan,
                    const std::vector<ReleasedStep>& steps, RowExposure* exposure) {
  const double deviation = plan.noise_multiplier * plan.clip;
  for (const ReleasedStep& step : steps) {
    const VectorXd norms = clipped_gradient_norms(rows, step.at, plan.clip);
    exposure->mu_squared.array() += (norms.array() / deviation).square();
  }
  exposure->exact = false;  // where the next step is taken depends on this one's noise
}

ReleasedMetric metric_for(const FitContext& context, PrivateFit* fit) {
  const auto& [rows, table, plan, key, observer] = context;
  ReleaseBits bits = context.bits(FitStream::moments);
  if (!fit->exposure) return release_metric(rows.features, table, plan, bits, observer);
  std::vector<MomentsRelease> rounds;
  ReleasedMetric metric = release_metric(rows.features, table, plan, bits, observer, &rounds);
  expose_metric(rows.features, rounds, &*fit->exposure);
  return metric;
}

MatrixXd descend(const RowMajor& z, const FitContext& context, PrivateFit* fit) {
  const FitPlan& plan = context.plan;
  ReleaseBits bits = context.bits(FitStream::steps);
  const DescentPlan descent = descent_of(plan, fit->clip);
  const DescentRows rows{z, context.rows.target, plan.model};
  std::vector<ReleasedStep> steps;
  MatrixXd u = noisy_descent(rows, static_cast<Index>(context.table.classes.size()), descent, bits,
                             context.observer, fit->exposure ? &steps : nullptr);
  if (fit->exposure) expose_descent(rows, descent, steps, &*fit->exposure);
  return u;
}

namespace {

/// Every record that is not null has one count of each range, less those of values that are missing.
void expose_ranges(const BoundedRows& rows, const PublicTable& table, const FitPlan& plan,
                   RowExposure* exposure) {
  double columns = plan.model == FitModel::ridge ? 1.0 : 0.0;
  for (const FeatureColumn& column : table.features) {
    if (std::holds_alternative<NumericColumn>(column)) ++columns;
  }
  if (columns == 0.0) return;
  for (Index i = 0; i < rows.features.rows(); ++i) {
    if (rows.features.row(i).isZero(0.0)) continue;
    const double filled =
        rows.filled.size() > 0 ? static_cast<double>(rows.filled.row(i).count()) : 0.0;
    exposure->mu_squared(i) += plan.range_mu() * plan.range_mu() * (columns - filled) / columns;
  }
}

/// The prediction at the mean of the features, as far as it was released with the moments of the intercept.
double mean_prediction(const PublicTable& table, const PrivateFit& fit) {
  if (!fit.metric || !table.intercept || table.target_bound() <= 0.0) return 0.0;
  const Index last = fit.metric->moments.cols() - 1;
  const double count = fit.metric->moments(last, last);
  if (!(count > 0.0)) return 0.0;
  const double mean = fit.metric->moments.row(last).dot(fit.parameters.col(0)) / count;
  return std::clamp(mean, -table.target_bound(), table.target_bound());
}

BoundedRows chosen(const BoundedRows& rows, const std::vector<Index>& which) {
  BoundedRows part;
  part.features.resize(static_cast<Index>(which.size()), rows.features.cols());
  part.target.resize(static_cast<Index>(which.size()));
  for (std::size_t i = 0; i < which.size(); ++i) {
    part.features.row(static_cast<Index>(i)) = rows.features.row(which[i]);
    part.target(static_cast<Index>(i)) = rows.target(which[i]);
  }
  if (rows.filled.size() > 0) part.filled = rows.filled(which, Eigen::all);
  return part;
}

}  // namespace

DescentPlan descent_of(const FitPlan& plan, double clip) {
  const PlannedDescent& descent = *plan.descent();
  return {descent.learning_rate,
          descent.steps,
          descent.average_last,
          descent.noise_multiplier,
          clip,
          plan.rows,
          plan.ridge(),
          plan.noise_mode};
}

RowParts split_rows(const BoundedRows& rows, double share, ReleaseBits& bits) {
  if (share == 0.0) return {rows, {}};
  // A coin of 62 bits for each position, whatever the row holds and however many rows there are: who is held out tells nothing.
  const auto threshold = static_cast<std::uint64_t>(std::ldexp(share, 62));
  std::vector<Index> fitted, held_out;
  for (Index i = 0; i < rows.features.rows(); ++i) {
    ((bits.word() >> 2) < threshold ? held_out : fitted).push_back(i);
  }
  return {chosen(rows, fitted), chosen(rows, held_out)};
}

HeldOut evaluate_fit(const BoundedRows& held_out, const FitPlan& plan, double mu,
                     const PrivateFit& fit, ReleaseBits& bits) {
  return evaluate(
      held_out, fit.table,
      {plan.model, fit.parameters, mean_prediction(fit.table, fit), mu, plan.noise_mode}, bits);
}

PrivateFit private_fit(const RowSource& source, const PublicTable& declared, const FitPlan& plan,
                       const ReleaseKey& key, Observer& observer, const FitRun& run) {
  // A record is in one part, whatever its ranges are: the same coins both times.
  const auto parts_under = [&](const PublicTable& bounds) {
    ReleaseBits coins(run.candidate_of != nullptr ? *run.candidate_of : key,
                      static_cast<std::uint64_t>(FitStream::parts));
    return split_rows(source(bounds), plan.holdout, coins);
  };
  const MechanismRules& rules = rules_of(plan.mechanism());
  PublicTable table = declared;
  RowParts parts = parts_under(declared);
  if (plan.range_share > 0.0) {
    ReleaseBits bits(key, static_cast<std::uint64_t>(FitStream::ranges));
    table = release_ranges(parts.fitted, declared, plan.model, plan.range_mu(), rules.margin,
                           plan.noise_mode, bits);
    // The same rows under the narrower ranges, which are public now.
    parts = parts_under(table);
  }
  PrivateFit fit;
  fit.table = table;
  if (run.expose_rows) {
    fit.exposure = RowExposure{VectorXd::Zero(parts.fitted.features.rows())};
    if (plan.range_share > 0.0) expose_ranges(parts.fitted, table, plan, &*fit.exposure);
  }
  rules.run({parts.fitted, table, plan, key, observer}, &fit);
  if (run.candidate_of != nullptr) return fit;
  if (plan.holdout > 0.0) {
    ReleaseBits bits(key, static_cast<std::uint64_t>(FitStream::held_out));
    fit.held_out = evaluate_fit(parts.held_out, plan, plan.mu, fit, bits);
  }
  add_intervals(table, plan, &fit);
  return fit;
}

}  // namespace sfumato
