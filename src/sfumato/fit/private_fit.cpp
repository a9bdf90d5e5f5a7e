#include "sfumato/fit/private_fit.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/core/parallel.hpp"
#include "sfumato/fit/descent.hpp"
#include "sfumato/fit/evaluate.hpp"
#include "sfumato/fit/intervals.hpp"
#include "sfumato/fit/minimiser.hpp"
#include "sfumato/fit/moments.hpp"
#include "sfumato/fit/noisy_sum.hpp"
#include "sfumato/fit/prediction.hpp"
#include "sfumato/fit/ranges.hpp"
#include "sfumato/fit/sensitivity.hpp"
#include "sfumato/math/symmetric_eigen.hpp"

namespace sfumato {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

double residual_scale(const PublicTable& table, FitModel model) {
  return model == FitModel::ridge ? table.target_bound() : 1.0;
}

Index classes_of(const PublicTable& table) { return static_cast<Index>(table.classes.size()); }

ReleasedMetric release_metric(const BoundedRows& rows, const PublicTable& table,
                              const FitPlan& plan, const ReleaseKey& key, Observer& observer) {
  ReleaseBits bits(key, static_cast<std::uint64_t>(FitStream::moments));
  const NoisyMoments moments =
      release_moments(rows.features, plan.bound, plan.moments_mu(), table.relation,
                      static_cast<double>(table.rows), plan.noise_mode, bits, observer);
  return metric_of(moments.sum, moments.noise_std, plan.rows, plan.metric_ridge);
}

void fit_whitened(const BoundedRows& rows, const PublicTable& table, const FitPlan& plan,
                  const ReleaseKey& key, Observer& observer, PrivateFit* fit) {
  fit->metric = release_metric(rows, table, plan, key, observer);
  const MatrixXd root = fit->metric->root();
  fit->clip = clip_of(plan, table, &*fit->metric);
  ReleaseBits bits(key, static_cast<std::uint64_t>(FitStream::steps));
  const MatrixXd u = noisy_descent(in_metric(rows.features, root), rows.target, plan.model,
                                   classes_of(table), descent_of(plan, fit->clip), bits, observer);
  fit->parameters = root.transpose() * u;
}

void fit_as_it_is(const BoundedRows& rows, const PublicTable& table, const FitPlan& plan,
                  const ReleaseKey& key, Observer& observer, PrivateFit* fit) {
  fit->clip = clip_of(plan, table, nullptr);
  ReleaseBits bits(key, static_cast<std::uint64_t>(FitStream::steps));
  fit->parameters = noisy_descent(rows.features, rows.target, plan.model, classes_of(table),
                                  descent_of(plan, fit->clip), bits, observer);
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
  const double edge = moments.noise_std * std::sqrt(2.0 * static_cast<double>(d));
  fit->metric = metric_of(moments.sum.topLeftCorner(d, d), moments.noise_std, plan.rows, 1.0);
  const VectorXd cross = moments.sum.topRightCorner(d, 1) / scale.scale;
  const MatrixXd& v = fit->metric->vectors;
  const VectorXd regularised = plan.rows * fit->metric->eigenvalues + VectorXd::Constant(d, edge);
  fit->parameters = v * (v.transpose() * cross).cwiseQuotient(regularised);
}

void fit_minimiser(const BoundedRows& rows, const PublicTable& table, const FitPlan& plan,
                   const ReleaseKey& key, Observer& observer, PrivateFit* fit) {
  fit->metric = release_metric(rows, table, plan, key, observer);
  const MatrixXd root = fit->metric->root();
  const BoundedLoss loss{
      plan.model,
      plan.model == FitModel::ridge ? plan.clip_factor * table.target_bound() : 1.0,
      std::sqrt(fit->metric->effective_dim),
      plan.ridge,
      plan.rows,
      static_cast<double>(table.rows)};
  fit->clip = loss.gradient_bound();
  const double tolerance = 1e-8 * loss.gradient_bound();
  const VectorXd u =
      minimise(in_metric(rows.features, root), rows.target, loss, tolerance, observer);
  ReleaseBits bits(key, static_cast<std::uint64_t>(FitStream::steps));
  const NoisySum released =
      noisy_vector(u,
                   minimiser_sensitivity(loss.gradient_bound(), plan.ridge, plan.rows, tolerance,
                                         table.relation),
                   plan.fit_mu() * std::sqrt(1.0 - plan.metric_share), plan.noise_mode, bits);
  fit->parameters = root.transpose() * released.sum;
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
  return part;
}

}  // namespace

MatrixXd ReleasedMetric::root() const {
  return (eigenvalues.array() + ridge).rsqrt().matrix().asDiagonal() * vectors.transpose();
}

RowMajor in_metric(const RowMajor& x, const MatrixXd& root) {
  RowMajor z(x.rows(), root.rows());
  for (Index i = 0; i < x.rows(); ++i) z.row(i).noalias() = x.row(i) * root.transpose();
  return z;
}

ReleasedMetric metric_of(const MatrixXd& moments, double noise_std, double rows,
                         double metric_ridge) {
  const SymmetricEigen eigen(moments / rows);
  if (!eigen.converged()) {
    throw NumericalFailure("the eigenvalues of the released moments were not found",
                           "Release again with more noise or fewer features");
  }
  ReleasedMetric metric{moments, noise_std, eigen.eigenvalues().cwiseMax(0.0), eigen.eigenvectors(),
                        0.0,     1.0};
  metric.ridge =
      metric_ridge * noise_std * std::sqrt(2.0 * static_cast<double>(moments.rows())) / rows;
  metric.effective_dim = std::max(
      1.0, (metric.eigenvalues.array() / (metric.eigenvalues.array() + metric.ridge)).sum());
  return metric;
}

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

PrivateFit private_fit(const RowSource& source, const PublicTable& declared, const FitPlan& plan,
                       const ReleaseKey& key, Observer& observer) {
  // A record is in one part, whatever its ranges are: the same coins both times.
  const auto parts_under = [&](const PublicTable& bounds) {
    ReleaseBits coins(key, static_cast<std::uint64_t>(FitStream::parts));
    return split_rows(source(bounds), plan.holdout, coins);
  };
  PublicTable table = declared;
  RowParts parts = parts_under(declared);
  if (plan.range_share > 0.0) {
    ReleaseBits bits(key, static_cast<std::uint64_t>(FitStream::ranges));
    table =
        release_ranges(parts.fitted, declared, plan.model, plan.range_mu(), plan.noise_mode, bits);
    parts = parts_under(table);
  }
  PrivateFit fit;
  fit.table = table;
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
  if (plan.holdout > 0.0) {
    ReleaseBits bits(key, static_cast<std::uint64_t>(FitStream::held_out));
    fit.held_out =
        evaluate(parts.held_out, table, plan.model, fit.parameters, mean_prediction(table, fit),
                 plan.mu, static_cast<double>(table.rows), plan.noise_mode, bits);
  }
  add_intervals(table, plan, &fit);
  return fit;
}

}  // namespace sfumato
