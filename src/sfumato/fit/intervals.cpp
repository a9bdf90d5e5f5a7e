#include "sfumato/fit/intervals.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "sfumato/fit/prediction.hpp"
#include "sfumato/math/symmetric_eigen.hpp"

namespace sfumato {

using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// The rest of the start after the descent may be this share of the way, in every direction.
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

/// The error of a noisy descent that has arrived: curvature V diag(k) V^T in its coordinates, `scatter` x k the variance of one record's gradient.
/// Empty, and the reason, where it has not arrived.
std::optional<MatrixXd> error_of_descent(const FitPlan& plan, const PrivateFit& fit,
                                         const VectorXd& curvature, const MatrixXd& directions,
                                         double scatter, Text* reason) {
  const PlannedDescent& descent = *plan.descent();
  const auto steps = static_cast<double>(descent.steps),
             last = static_cast<double>(descent.average_last);
  const double per_step = descent.learning_rate * descent.noise_multiplier * fit.clip / plan.rows;
  VectorXd variance(curvature.size());
  for (Eigen::Index j = 0; j < curvature.size(); ++j) {
    const double shrink = 1.0 - descent.learning_rate * curvature(j);
    if (left_of_start(shrink, steps, last) > kUnreached) {
      *reason = "the descent did not reach some directions: more `steps` would";
      return {};
    }
    variance(j) = per_step * per_step * averaged_noise(shrink, steps, last) +
                  scatter / (plan.rows * curvature(j));
  }
  const MatrixXd back = fit.metric->root.transpose() * directions;
  return back * variance.asDiagonal() * back.transpose();
}

void add_to_squares(const PublicTable& table, const FitPlan& plan, PrivateFit* fit) {
  if (!fit->held_out || !fit->held_out->residual_variance) {
    fit->no_intervals = "too few rows were held out to know the residuals";
    return;
  }
  const ReleasedMetric& metric = *fit->metric;
  const double variance = *fit->held_out->residual_variance;
  if (plan.descent()->clip_factor * table.target_bound() < kFarFromClip * std::sqrt(variance)) {
    fit->no_intervals =
        "gradients may have been clipped too often, by what the held-out rows can tell: raise "
        "`clip_factor` or `holdout`";
    return;
  }
  if ((metric.reach.array() < kResolved * metric.noise_edge.array()).any()) {
    fit->no_intervals = "the noise hides some directions of the features";
    return;
  }
  const auto d = metric.reach.size();
  fit->covariance = error_of_descent(plan, *fit, metric.reach, MatrixXd::Identity(d, d), variance,
                                     &fit->no_intervals);
}

/// With the curvature that was released at the parameters themselves: records that are nearly certain say little, and which these are depends on the
/// features. (With the mean of p (1 - p) for all of them intervals of 95 % held the truth in 91 % of 4,000 cases.)
void add_to_logistic(const FitPlan& plan, PrivateFit* fit) {
  if (!fit->curvature) {
    fit->no_intervals =
        say("a share of the budget pays for those of a logistic regression ({}, usually 0.1)",
            KeyName{"interval_share"});
    return;
  }
  const double per_row = 4.0 * plan.rows;
  const SymmetricEigen eigen(fit->curvature->sum / per_row);
  const auto d = static_cast<double>(fit->curvature->sum.rows());
  const double edge = fit->curvature->noise_std * std::sqrt(2.0 * d) / per_row;
  if (!eigen.converged() || eigen.eigenvalues().minCoeff() < kResolved * edge) {
    fit->no_intervals = "the noise hides the curvature in some directions";
    return;
  }
  fit->covariance = error_of_descent(plan, *fit, eigen.eigenvalues(), eigen.eigenvectors(), 1.0,
                                     &fit->no_intervals);
}

}  // namespace

void add_intervals(const PublicTable& table, const FitPlan& plan, PrivateFit* fit) {
  if (plan.mechanism() != FitMechanism::whitened || plan.model == FitModel::softmax) {
    fit->no_intervals =
        "only whitened linear and logistic regressions know the error of their coefficients";
  } else if (plan.model == FitModel::ridge) {
    add_to_squares(table, plan, fit);
  } else {
    add_to_logistic(plan, fit);
  }
}

}  // namespace sfumato
