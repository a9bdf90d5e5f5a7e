#include "sfumato/fit/canary.hpp"

#include <cmath>
#include <vector>

#include "sfumato/fit/descent.hpp"
#include "sfumato/fit/metric.hpp"
#include "sfumato/fit/minimiser.hpp"
#include "sfumato/fit/moments.hpp"
#include "sfumato/fit/noisy_sum.hpp"
#include "sfumato/fit/prediction.hpp"
#include "sfumato/fit/private_fit.hpp"
#include "sfumato/fit/sensitivity.hpp"

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

/// log ratio of N(shift, s^2) to N(0, s^2), for a number or independent ones.
double log_ratio(const MatrixXd& seen, const MatrixXd& shift, double noise_std) {
  return (seen.cwiseProduct(shift).sum() - 0.5 * shift.squaredNorm()) / (noise_std * noise_std);
}

/// The metric, and what each round of moments says about the canary, isotropic in the Frobenius norm (Spec §22.2).
ReleasedMetric metric_with(const CanaryTable& made, const PublicTable& table, const FitPlan& plan,
                           const ReleaseKey& key, Observer& observer, double* score) {
  ReleaseBits bits(key, static_cast<std::uint64_t>(FitStream::moments));
  std::vector<MomentsRelease> trace;
  ReleasedMetric metric = release_metric(made.rows.features, table, plan, bits, observer, &trace);
  for (const MomentsRelease& release : trace) {
    RowMajor canary = in_metric(made.canary.features, release.base.root);
    shorten_rows(release.bound, &canary);
    *score +=
        log_ratio(release.moments.sum, canary.transpose() * canary, release.moments.noise_std);
  }
  return metric;
}

/// Of a descent whose iterates are all public: each sum has the canary's gradient at a known place, or not.
double descent_score(const CanaryTable& made, const PublicTable& table, const FitPlan& plan,
                     const MatrixXd& root, double clip, const ReleaseKey& key, Observer& observer) {
  const RowMajor rows = in_metric(made.rows.features, root);
  const RowMajor canary = in_metric(made.canary.features, root);
  ReleaseBits bits(key, static_cast<std::uint64_t>(FitStream::steps));
  std::vector<ReleasedStep> trace;
  const MatrixXd last =
      noisy_descent(rows, made.rows.target, plan.model, static_cast<Index>(table.classes.size()),
                    descent_of(plan, clip), bits, observer, &trace);
  if (plan.mechanism == FitMechanism::last_iterate) {
    // The canary is of the second class: its gradient at 0 pulls there, and of several away from the others.
    return last.cols() == 1 ? last(0, 0) : last(0, 1) - last.row(0).mean();
  }
  double score = 0.0;
  for (const ReleasedStep& step : trace) {
    const MatrixXd shift = clipped_gradient_sum(canary, made.canary.target, plan.model, step.at,
                                                clip, nullptr, observer);
    score += log_ratio(step.sum, shift, plan.noise_multiplier * clip);
  }
  return score;
}

double statistics_score(const CanaryTable& made, const PublicTable& table, const FitPlan& plan,
                        const ReleaseKey& key, Observer& observer) {
  const double bound = table.target_bound();
  const StatisticsScale scale = statistics_scale(plan.bound, bound, bound / plan.bound);
  const auto augmented = [&](const BoundedRows& rows) {
    RowMajor both(1, rows.features.cols() + 1);
    both << rows.features, scale.scale * rows.target;
    return both;
  };
  ReleaseBits bits(key, static_cast<std::uint64_t>(FitStream::moments));
  const NoisyMoments moments = release_moments(
      augmented(made.rows), std::sqrt(scale.bound_square) * (1.0 + 1e-12), plan.moments_mu(),
      table.relation, static_cast<double>(table.rows), plan.noise_mode, bits, observer);
  const VectorXd v = augmented(made.canary).transpose();
  // Isotropic in the Frobenius norm, in which both the noise and the shift v v^T are measured (Spec §22.2).
  return log_ratio(moments.sum, v * v.transpose(), moments.noise_std);
}

double minimiser_score(const CanaryTable& made, const PublicTable& table, const FitPlan& plan,
                       const ReleaseKey& key, Observer& observer) {
  double score = 0.0;
  const ReleasedMetric metric = metric_with(made, table, plan, key, observer, &score);
  const MatrixXd& root = metric.root;
  const BoundedLoss loss{
      plan.model,
      plan.model == FitModel::ridge ? plan.clip_factor * table.target_bound() : 1.0,
      std::sqrt(metric.effective_dim),
      plan.ridge,
      plan.rows,
      static_cast<double>(table.rows)};
  const double tolerance = 1e-8 * loss.gradient_bound();
  const auto minimum = [&](const BoundedRows& rows) {
    return minimise(in_metric(rows.features, root), rows.target, loss, tolerance, observer);
  };
  ReleaseBits bits(key, static_cast<std::uint64_t>(FitStream::steps));
  const NoisySum released =
      noisy_vector(minimum(made.rows),
                   minimiser_sensitivity(loss.gradient_bound(), plan.ridge, plan.rows, tolerance,
                                         table.relation),
                   plan.fit_mu() * std::sqrt(1.0 - plan.metric_share), plan.noise_mode, bits);
  return score + log_ratio(released.sum, minimum(made.canary), released.noise_std);
}

}  // namespace

double canary_score(const PublicTable& table, const FitPlan& plan, bool present,
                    const ReleaseKey& key, Observer& observer) {
  const CanaryTable made = canary_table(table, plan, present);
  switch (plan.mechanism) {
    case FitMechanism::statistics: return statistics_score(made, table, plan, key, observer);
    case FitMechanism::minimiser: return minimiser_score(made, table, plan, key, observer);
    case FitMechanism::whitened: {
      double score = 0.0;
      const ReleasedMetric metric = metric_with(made, table, plan, key, observer, &score);
      return score + descent_score(made, table, plan, metric.root, clip_of(plan, table, &metric),
                                   key, observer);
    }
    default: {
      const Index d = table.dim();
      return descent_score(made, table, plan, MatrixXd::Identity(d, d),
                           clip_of(plan, table, nullptr), key, observer);
    }
  }
}

}  // namespace sfumato
