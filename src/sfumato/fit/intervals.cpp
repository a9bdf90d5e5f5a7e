#include "sfumato/fit/intervals.hpp"

#include <algorithm>
#include <cmath>

#include "sfumato/fit/prediction.hpp"

namespace sfumato {

using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// What is left of the start after the descent may be this share of the way, in every direction.
constexpr double kUnreached = 0.02;
/// Clipping begins so many deviations of the residuals away: it acts on about one record in a hundred.
constexpr double kFarFromClip = 2.5;
/// Eigenvalues nearer to the noise than this many of its edges are not resolved.
constexpr double kResolved = 1.0;

double left_of_start(double shrink, double steps, double average_last) {
  double sum = 0.0;
  for (double t = steps - average_last + 1.0; t <= steps; ++t) sum += std::pow(shrink, t);
  return std::abs(sum / average_last);
}

}  // namespace

void add_intervals(const PublicTable& table, const FitPlan& plan, PrivateFit* fit) {
  if (plan.mechanism != FitMechanism::whitened || plan.model != FitModel::ridge) {
    // Of logistic regression, with the mean of p (1 - p) for every row, intervals of 95 % held the truth in 91 % of 4,000 cases.
    fit->no_intervals = "only whitened linear regressions know the error of their coefficients";
    return;
  }
  if (!fit->held_out || !fit->held_out->resolved || !fit->held_out->residual_variance) {
    fit->no_intervals = "too few rows were held out to know the residuals";
    return;
  }
  const ReleasedMetric& metric = *fit->metric;
  const double residual = std::sqrt(*fit->held_out->residual_variance);
  if (plan.clip_factor * table.target_bound() < kFarFromClip * residual) {
    fit->no_intervals = "gradients were clipped too often: raise `clip_factor`";
    return;
  }
  const double edge =
      metric.noise_std * std::sqrt(2.0 * static_cast<double>(metric.moments.rows())) / plan.rows;
  if (metric.eigenvalues.minCoeff() < kResolved * edge) {
    fit->no_intervals = "the noise hides some directions of the features";
    return;
  }
  const auto steps = static_cast<double>(plan.steps), last = static_cast<double>(plan.average_last);
  const VectorXd reach = metric.eigenvalues.array() / (metric.eigenvalues.array() + metric.ridge);
  VectorXd noise(reach.size());
  for (Eigen::Index j = 0; j < reach.size(); ++j) {
    const double shrink = 1.0 - plan.learning_rate * reach(j);
    if (left_of_start(shrink, steps, last) > kUnreached) {
      fit->no_intervals = "the descent did not reach some directions: more `steps` would";
      return;
    }
    noise(j) = averaged_noise(shrink, steps, last);
  }
  const double per_step = plan.learning_rate * plan.noise_multiplier * fit->clip / plan.rows;
  const MatrixXd root = metric.root();
  const MatrixXd privacy = per_step * per_step * root.transpose() * noise.asDiagonal() * root;
  // Sampling: sr2 (sum x x^T)^{-1}.
  const MatrixXd sampling = residual * residual / plan.rows * metric.vectors *
                            metric.eigenvalues.cwiseInverse().asDiagonal() *
                            metric.vectors.transpose();
  fit->covariance = privacy + sampling;
}

}  // namespace sfumato
