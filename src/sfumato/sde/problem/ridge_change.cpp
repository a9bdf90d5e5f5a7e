#include "sfumato/sde/problem/ridge_change.hpp"

#include <Eigen/Eigenvalues>
#include <cmath>
#include <utility>

#include "sfumato/core/check.hpp"

namespace sfumato {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kParallel = 1e-15;  // of a vector outside the line of another: rounding
constexpr double kSmallRatio = 0.5;  // a precision below it is the difference of larger numbers

RowChange no_change(Index parameters) {
  return {MatrixXd(parameters, 0), ArrayXd(0), ArrayXd(0), ArrayXd(0)};
}

std::optional<RowChange> removal(const RidgeProblem& problem, Index row,
                                 const RidgeProblem::Fit& reference) {
  const Record record = problem.record(row);
  const VectorXd& x = record.features;
  const double root_weight = std::sqrt(reference.weights.row);
  const VectorXd u = root_weight * reference.whiten(x);
  const double norm = u.norm();
  if (norm == 0.0) return no_change(problem.parameters());

  // Both are those of the row as seen from the neighbour: h' = h / (1 - h), r' = r / (1 - h).
  double leverage = 0.0;
  double residual = 0.0;
  if (problem.dominates(row)) {  // 1 - h and r are small differences: start from the neighbour
    const RidgeProblem::Fit fit = problem.neighbour_fit(row, std::nullopt);
    if (fit.is_singular()) return std::nullopt;
    leverage = fit.weights.row * fit.whiten(x).squaredNorm();
    residual = x.dot(fit.minimiser) - record.target;
  } else {
    const double remainder = 1.0 - norm * norm;
    leverage = norm * norm / remainder;
    residual = (x.dot(reference.minimiser) - record.target) / remainder;
  }
  return RowChange{
      u / norm, ArrayXd::Constant(1, leverage), ArrayXd::Constant(1, 1.0 + leverage),
      ArrayXd::Constant(1, root_weight * residual * std::sqrt(leverage / (1.0 + leverage)))};
}

/// Orthonormal columns that span u and v: none, one or two.
MatrixXd span_of(const VectorXd& u, const VectorXd& v) {
  const bool u_first = u.norm() >= v.norm();
  const VectorXd& large = u_first ? u : v;
  const VectorXd& small = u_first ? v : u;
  if (large.norm() == 0.0) return MatrixXd(u.size(), 0);
  const VectorXd first = large.normalized();
  VectorXd rest = small - first.dot(small) * first;
  rest -= first.dot(rest) * first;  // twice is enough, even for nearly parallel vectors
  if (rest.norm() <= kParallel * small.norm()) return first;
  MatrixXd basis(u.size(), 2);
  basis << first, rest.normalized();
  return basis;
}

std::optional<RowChange> replacement_of(const RidgeProblem& problem, Index row, const Record& other,
                                        const RidgeProblem::Fit& reference) {
  require_size("replacement", other.features.size(), problem.parameters());
  const Record record = problem.record(row);
  const double root_weight = std::sqrt(reference.weights.row);
  const VectorXd feature_step = other.features - record.features;
  const VectorXd u = root_weight * reference.whiten(record.features);
  const VectorXd v = root_weight * reference.whiten(other.features);
  const VectorXd step = root_weight * reference.whiten(feature_step);  // v - u, with its digits

  const MatrixXd basis = span_of(u, v);
  if (basis.cols() == 0) return no_change(problem.parameters());
  // v v^T - u u^T = (step sum^T + sum step^T) / 2: nothing cancels when the records are close.
  const VectorXd a = basis.transpose() * step;
  const VectorXd b = basis.transpose() * (u + v);
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(0.5 *
                                                      (a * b.transpose() + b * a.transpose()));
  const ArrayXd change = eigen.eigenvalues().array();

  RowChange result;
  result.directions = basis * eigen.eigenvectors();
  result.ratio = 1.0 / (1.0 + change);
  result.excess = -change / (1.0 + change);
  if (!problem.dominates(row) || 1.0 + change.minCoeff() > kSmallRatio) {
    const double residual = record.features.dot(reference.minimiser) - record.target;
    const double residual_step =
        feature_step.dot(reference.minimiser) - (other.target - record.target);
    const VectorXd gradient = -root_weight * (residual * step + residual_step * v);
    result.shift = (result.directions.transpose() * gradient).array() * result.ratio;
    return result;
  }
  const RidgeProblem::Fit fit = problem.neighbour_fit(row, other);
  if (fit.is_singular()) return std::nullopt;
  for (Index k = 0; k < change.size(); ++k) {
    if (1.0 + change(k) > kSmallRatio) continue;
    const VectorXd direction = reference.upper.transpose() * result.directions.col(k);
    result.ratio(k) = fit.whiten(direction).squaredNorm();
    result.excess(k) = result.ratio(k) - 1.0;
  }
  const VectorXd moved = reference.upper * (fit.minimiser - reference.minimiser);
  result.shift = (result.directions.transpose() * moved).array();
  return result;
}

}  // namespace

std::optional<RowChange> row_change(const RidgeProblem& problem, Index row,
                                    const std::optional<Record>& replacement) {
  const auto& reference = problem.reference(!replacement);
  if (!reference) return std::nullopt;
  if (replacement) return replacement_of(problem, row, *replacement, *reference);
  return removal(problem, row, *reference);
}

std::optional<VectorXd> minimiser_shift(const RidgeProblem& problem, Index row,
                                        const std::optional<Record>& replacement) {
  if (problem.dominates(row)) {  // R^{-1} would magnify the rounding of the one direction
    const RidgeProblem::Fit fit = problem.neighbour_fit(row, replacement);
    if (fit.is_singular()) return std::nullopt;
    return fit.minimiser - problem.minimiser();
  }
  const auto change = row_change(problem, row, replacement);
  if (!change) return std::nullopt;
  const VectorXd moved = change->directions * change->shift.matrix();
  return problem.reference_offset(!replacement) + problem.reference(!replacement)->unwhiten(moved);
}

bool changes_rows_only(const RidgeProblem& problem, bool removal) {
  const RidgeOptions& options = problem.options();
  return !removal || (options.loss == LossScale::sum &&
                      (options.ridge_scale == RidgeScale::fixed || options.ridge == 0.0));
}

std::optional<WhitenedPair> ridge_pair_stationary(const RidgeProblem& problem, Index row,
                                                  const std::optional<Record>& replacement,
                                                  double noise_variance) {
  require_positive("noise_variance", noise_variance);
  if (!changes_rows_only(problem, !replacement)) {
    throw InvalidArgument("removing a row rescales the loss of the others here",
                          "Use whiten_at on the two Ornstein-Uhlenbeck laws");
  }
  auto change = row_change(problem, row, replacement);
  if (!change) return std::nullopt;
  // R (w - m) has covariance s^2/2 I under P.
  return WhitenedPair{false, false, std::move(change->excess), std::move(change->ratio),
                      change->shift * std::sqrt(2.0 / noise_variance)};
}

}  // namespace sfumato
