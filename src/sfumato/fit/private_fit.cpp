#include "sfumato/fit/private_fit.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/core/parallel.hpp"
#include "sfumato/fit/descent.hpp"
#include "sfumato/fit/evaluate.hpp"
#include "sfumato/fit/imagined.hpp"
#include "sfumato/fit/intervals.hpp"
#include "sfumato/fit/minimiser.hpp"
#include "sfumato/fit/moments.hpp"
#include "sfumato/fit/noisy_sum.hpp"
#include "sfumato/fit/prediction.hpp"
#include "sfumato/fit/ranges.hpp"
#include "sfumato/fit/sensitivity.hpp"

namespace sfumato {

using Eigen::Index;
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

void expose_descent(const RowMajor& z, const VectorXd& target, FitModel model,
                    const DescentPlan& plan, const std::vector<ReleasedStep>& steps,
                    RowExposure* exposure) {
  const double deviation = plan.noise_multiplier * plan.clip;
  for (const ReleasedStep& step : steps) {
    const VectorXd norms = clipped_gradient_norms(z, target, model, step.at, plan.clip);
    exposure->mu_squared.array() += (norms.array() / deviation).square();
  }
  exposure->exact = false;  // where the next step is taken depends on this one's noise
}

using Eigen::MatrixXd;

namespace {

Index classes_of(const PublicTable& table) { return static_cast<Index>(table.classes.size()); }

ReleasedMetric metric_for(const BoundedRows& rows, const PublicTable& table, const FitPlan& plan,
                          const ReleaseKey& key, Observer& observer, PrivateFit* fit) {
  ReleaseBits bits(key, static_cast<std::uint64_t>(FitStream::moments));
  if (!fit->exposure) return release_metric(rows.features, table, plan, bits, observer);
  std::vector<MomentsRelease> rounds;
  ReleasedMetric metric = release_metric(rows.features, table, plan, bits, observer, &rounds);
  expose_metric(rows.features, rounds, &*fit->exposure);
  return metric;
}

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

/// The descent of a plan on rows in its coordinates.
MatrixXd descend(const RowMajor& z, const BoundedRows& rows, const PublicTable& table,
                 const FitPlan& plan, const ReleaseKey& key, Observer& observer, PrivateFit* fit) {
  ReleaseBits bits(key, static_cast<std::uint64_t>(FitStream::steps));
  const DescentPlan descent = descent_of(plan, fit->clip);
  std::vector<ReleasedStep> steps;
  MatrixXd u = noisy_descent(z, rows.target, plan.model, classes_of(table), descent, bits, observer,
                             fit->exposure ? &steps : nullptr);
  if (fit->exposure) {
    expose_descent(z, rows.target, plan.model, descent, steps, &*fit->exposure);
  }
  return u;
}

/// Rows become 2 sqrt(p (1 - p)) z, no longer than the bound; null records stay 0.
void weigh_by_curvature(const VectorXd& u, const VectorXd& target, double bound, RowMajor* z) {
  for (Index i = 0; i < z->rows(); ++i) {
    const double p = 1.0 / (1.0 + std::exp(-z->row(i).dot(u)));
    z->row(i) *= target(i) < 0.0 ? 0.0 : 2.0 * std::sqrt(p * (1.0 - p));
  }
  shorten_rows(bound, z);
}

void fit_whitened(const BoundedRows& rows, const PublicTable& table, const FitPlan& plan,
                  const ReleaseKey& key, Observer& observer, PrivateFit* fit) {
  fit->metric = metric_for(rows, table, plan, key, observer, fit);
  const MatrixXd& root = fit->metric->root;
  fit->clip = clip_of(plan, table, &*fit->metric);
  RowMajor z = in_metric(rows.features, root);
  const MatrixXd u = descend(z, rows, table, plan, key, observer, fit);
  fit->parameters = root.transpose() * u;
  if (plan.interval_share == 0.0) return;
  const double bound = kRowsInMetric * std::sqrt(fit->metric->effective_dim);
  weigh_by_curvature(u.col(0), rows.target, bound, &z);
  ReleaseBits more(key, static_cast<std::uint64_t>(FitStream::curvature));
  fit->curvature =
      release_moments(z, bound, plan.interval_mu(), table.relation, static_cast<double>(table.rows),
                      plan.noise_mode, more, observer);
  if (fit->exposure) expose_moments(z, fit->curvature->noise_std, &*fit->exposure);
}

void fit_as_it_is(const BoundedRows& rows, const PublicTable& table, const FitPlan& plan,
                  const ReleaseKey& key, Observer& observer, PrivateFit* fit) {
  fit->clip = clip_of(plan, table, nullptr);
  fit->parameters = descend(rows.features, rows, table, plan, key, observer, fit);
}

void fit_statistics(const BoundedRows& rows, const PublicTable& table, const FitPlan& plan,
                    const ReleaseKey& key, Observer& observer, PrivateFit* fit) {
  const Index d = rows.features.cols();
  const double bound = table.target_bound();
  const StatisticsScale scale = statistics_scale(plan.bound, bound, bound / plan.bound);
  RowMajor both(rows.features.rows(), d + 1);
  both << rows.features, scale.scale * rows.target;
  ReleaseBits bits(key, static_cast<std::uint64_t>(FitStream::moments));
  const NoisyMoments moments = release_moments(
      both, std::sqrt(scale.bound_square) * (1.0 + 1e-12), plan.moments_mu(), table.relation,
      static_cast<double>(table.rows), plan.noise_mode, bits, observer);
  if (fit->exposure) expose_moments(both, moments.noise_std, &*fit->exposure);
  // The ridge is the edge of the noise: (sum x x^T + edge)^{-1} is P / N.
  fit->metric = metric_of({moments.sum.topLeftCorner(d, d), moments.noise_std},
                          ReleasedMetric::of_features(d), plan.rows, 1.0, 0.0);
  const VectorXd cross = moments.sum.topRightCorner(d, 1) / scale.scale;
  fit->parameters = fit->metric->root.transpose() * (fit->metric->root * cross) / plan.rows;
}

void fit_minimiser(const BoundedRows& rows, const PublicTable& table, const FitPlan& plan,
                   const ReleaseKey& key, Observer& observer, PrivateFit* fit) {
  fit->metric = metric_for(rows, table, plan, key, observer, fit);
  const MatrixXd& root = fit->metric->root;
  const BoundedLoss loss{
      plan.model,
      plan.model == FitModel::ridge ? plan.clip_factor * table.target_bound() : 1.0,
      std::sqrt(fit->metric->effective_dim),
      plan.ridge,
      plan.rows,
      static_cast<double>(table.rows)};
  fit->clip = loss.gradient_bound();
  const double tolerance = 1e-8 * loss.gradient_bound();
  const RowMajor z = in_metric(rows.features, root);
  const VectorXd u = minimise(z, rows.target, loss, tolerance, observer);
  ReleaseBits bits(key, static_cast<std::uint64_t>(FitStream::steps));
  const NoisySum released =
      noisy_vector(u,
                   minimiser_sensitivity(loss.gradient_bound(), plan.ridge, plan.rows, tolerance,
                                         table.relation),
                   plan.fit_mu() * std::sqrt(1.0 - plan.metric_share), plan.noise_mode, bits);
  fit->parameters = root.transpose() * released.sum;
  if (fit->exposure) {
    fit->exposure->mu_squared.array() +=
        (shifts_without_rows(z, rows.target, loss, u).array() / released.noise_std).square();
    fit->exposure->exact = false;
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
  return {plan.learning_rate, plan.steps, plan.average_last, plan.noise_multiplier, clip,
          plan.rows,          plan.ridge, plan.noise_mode};
}

double clip_of(const FitPlan& plan, const PublicTable& table, const ReleasedMetric* metric) {
  switch (plan.mechanism) {
    case FitMechanism::last_iterate:
      // No gradient exceeds this, so that none is clipped: clipping would break the contraction (Spec §22.5).
      return (plan.model == FitModel::softmax ? std::sqrt(2.0) : 1.0) * plan.bound * (1.0 + 1e-8);
    case FitMechanism::isotropic:
      return plan.clip_factor * residual_scale(table, plan.model) * plan.bound;
    default:
      return plan.clip_factor * residual_scale(table, plan.model) *
             std::sqrt(metric->effective_dim);
  }
}

RowParts split_rows(const BoundedRows& rows, double share, ReleaseBits& bits) {
  if (share == 0.0) return {rows, {}};
  const auto threshold = static_cast<std::uint64_t>(std::ldexp(share, 62));
  std::vector<Index> fitted, held_out;
  for (Index i = 0; i < rows.features.rows(); ++i) {
    ((bits.word() >> 2) < threshold ? held_out : fitted).push_back(i);
  }
  return {chosen(rows, fitted), chosen(rows, held_out)};
}

HeldOut evaluate_fit(const BoundedRows& held_out, const FitPlan& plan, double mu,
                     const PrivateFit& fit, ReleaseBits& bits) {
  return evaluate(held_out, fit.table, plan.model, fit.parameters, mean_prediction(fit.table, fit),
                  mu, static_cast<double>(fit.table.rows), plan.noise_mode, bits);
}

PrivateFit private_fit(const RowSource& source, const PublicTable& declared, const FitPlan& plan,
                       const ReleaseKey& key, Observer& observer, const FitRun& run) {
  // A record is in one part, whatever its ranges are: the same coins both times.
  const auto parts_under = [&](const PublicTable& bounds) {
    ReleaseBits coins(run.candidate_of != nullptr ? *run.candidate_of : key,
                      static_cast<std::uint64_t>(FitStream::parts));
    return split_rows(source(bounds), plan.holdout, coins);
  };
  PublicTable table = declared;
  RowParts parts = parts_under(declared);
  if (plan.range_share > 0.0) {
    ReleaseBits bits(key, static_cast<std::uint64_t>(FitStream::ranges));
    const RangeMargin margin =
        plan.mechanism == FitMechanism::whitened ? RangeMargin::one_halving : RangeMargin::none;
    table = release_ranges(parts.fitted, declared, plan.model, plan.range_mu(), margin,
                           plan.noise_mode, bits);
    parts = parts_under(table);
  }
  PrivateFit fit;
  fit.table = table;
  if (run.expose_rows) {
    fit.exposure = RowExposure{VectorXd::Zero(parts.fitted.features.rows())};
    if (plan.range_share > 0.0) expose_ranges(parts.fitted, table, plan, &*fit.exposure);
  }
  switch (plan.mechanism) {
    case FitMechanism::whitened:
      fit_whitened(parts.fitted, table, plan, key, observer, &fit);
      break;
    case FitMechanism::isotropic:
    case FitMechanism::last_iterate:
      fit_as_it_is(parts.fitted, table, plan, key, observer, &fit);
      break;
    case FitMechanism::statistics:
      fit_statistics(parts.fitted, table, plan, key, observer, &fit);
      break;
    case FitMechanism::minimiser:
      fit_minimiser(parts.fitted, table, plan, key, observer, &fit);
      break;
  }
  if (run.candidate_of != nullptr) return fit;
  if (plan.holdout > 0.0) {
    ReleaseBits bits(key, static_cast<std::uint64_t>(FitStream::held_out));
    fit.held_out = evaluate_fit(parts.held_out, plan, plan.mu, fit, bits);
  }
  add_intervals(table, plan, &fit);
  return fit;
}

}  // namespace sfumato
