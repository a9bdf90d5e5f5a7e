#include "sfumato/fit/prediction.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "sfumato/core/check.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato {

using Eigen::Index;

namespace {

/// (1/m) sum_{t=first}^{last} a^t, by its terms: a may be negative or 1.
double mean_power(double a, double first, double last, double m) {
  double sum = 0.0, power = std::pow(a, first);
  for (double t = first; t <= last; ++t, power *= a) sum += power;
  return sum / m;
}

}  // namespace

double averaged_noise(double shrink, double steps, double average_last) {
  // Step i is seen by the iterates from max(i, T-m+1) on: for i <= T-m+1 the same sum, shrunk by the steps between.
  const double window = steps - average_last + 1.0;
  double sum = 0.0;
  double inner = 0.0;  // sum_{t=i}^{T} a^{t-i}
  for (double i = steps; i >= window; --i) {
    inner = 1.0 + shrink * inner;
    sum += (inner / average_last) * (inner / average_last);
  }
  double factor = shrink;
  for (double i = window - 1.0; i >= 1.0; --i, factor *= shrink) {
    sum += (factor * inner / average_last) * (factor * inner / average_last);
  }
  return sum;
}

ExcessLoss predicted_excess_loss(const Eigen::VectorXd& eigenvalues, const Eigen::VectorXd& optimum,
                                 const DescentShape& shape) {
  require_size("optimum", optimum.size(), eigenvalues.size());
  if (!(shape.average_last >= 1.0 && shape.average_last <= shape.steps)) {
    throw InvalidArgument("average_last is not between 1 and steps", "Average fewer iterates");
  }
  const double step_noise = shape.learning_rate * shape.noise_multiplier * shape.clip / shape.rows;
  ExcessLoss loss{0.0, 0.0};
  for (Index j = 0; j < eigenvalues.size(); ++j) {
    const double h = eigenvalues(j);
    const double k = shape.metric == DescentMetric::whitened ? h / (h + shape.metric_ridge) : h;
    const double a = 1.0 - shape.learning_rate * k;
    const double left =
        mean_power(a, shape.steps - shape.average_last + 1.0, shape.steps, shape.average_last);
    loss.bias += 0.5 * h * optimum(j) * optimum(j) * left * left;
    loss.variance +=
        0.5 * step_noise * step_noise * k * averaged_noise(a, shape.steps, shape.average_last);
  }
  return loss;
}

WhiteningGain whitening_gain(const Eigen::VectorXd& eigenvalues, double metric_ridge, double rho) {
  const Eigen::ArrayXd h = eigenvalues.array();
  const double dim = (h / (h + metric_ridge)).sum();
  return {(1.0 - rho) * h.mean() / h.minCoeff(),
          h.sum() * (h / (h + metric_ridge).square()).sum() / (dim * dim), dim};
}

WhitenedNoise whitened_noise(const Eigen::MatrixXd& hessian, double metric_ridge,
                             double noise_multiplier, double clip, double rows,
                             double learning_rate) {
  const Index d = hessian.rows();
  const Eigen::MatrixXd inverse_metric = hessian + metric_ridge * Eigen::MatrixXd::Identity(d, d);
  const double deviation = noise_multiplier * clip;
  const double step = learning_rate * deviation / rows;
  return {deviation * deviation * inverse_metric,
          step * step * inverse_metric.ldlt().solve(Eigen::MatrixXd::Identity(d, d))};
}

ExcessLoss predicted_statistics_loss(const Eigen::VectorXd& eigenvalues,
                                     const Eigen::VectorXd& optimum, const StatisticsNoise& noise) {
  require_size("optimum", optimum.size(), eigenvalues.size());
  const Eigen::ArrayXd s = noise.rows * eigenvalues.array();
  const Eigen::ArrayXd q = s / (s + noise.ridge).square();
  const Eigen::ArrayXd shrunk = s / (s + noise.ridge) * optimum.array();
  const double variance = noise.cross * noise.cross * q.sum() +
                          0.5 * noise.moment * noise.moment *
                              (shrunk.square().sum() * q.sum() + (q * shrunk.square()).sum());
  const double bias = (s * (shrunk - optimum.array()).square()).sum();
  return {bias / (2.0 * noise.rows), variance / (2.0 * noise.rows)};
}

StatisticsScale statistics_scale(double row_norm, double target_bound, double parameter_norm) {
  const double r = require_positive("row_norm", row_norm);
  const double y = require_positive("target_bound", target_bound);
  // (-Y^2 + sqrt(Y^4 + 8 Y^2 t^2 R^2)) / (4 Y^2 t^2), without its cancellation where t R / Y is small.
  const double t = parameter_norm * r / y;
  const double square = 2.0 * (r / y) * (r / y) / (1.0 + std::sqrt(1.0 + 8.0 * t * t));
  return {std::sqrt(square), r * r + square * y * y};
}

AdaptiveRidge adaptive_ridge(double least_eigenvalue, double dim, double row_norm,
                             double mu_eigenvalue, double mu_matrix, double beta, double normal) {
  const double t = std::sqrt(2.0 * std::log(2.0 / beta));
  const double r2 = row_norm * row_norm;
  const double released = std::max(0.0, least_eigenvalue + r2 / mu_eigenvalue * (normal - t));
  const double edge = r2 / mu_matrix * (std::sqrt(2.0 * dim) + t);
  return {released, edge, std::max(0.0, edge - released)};
}

}  // namespace sfumato
