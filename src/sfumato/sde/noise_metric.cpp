#include "sfumato/sde/noise_metric.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <variant>

#include "sfumato/core/check.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/sde/point_kernels.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// v^T Sigma^{-1} v; +inf where v leaves the range of a singular Sigma.
double squared_length(const MatrixXd& sigma, const VectorXd& v) {
  if (!sigma.allFinite() || !v.allFinite()) return kInf;
  if (v.isZero(0.0)) return 0.0;
  const Eigen::LLT<MatrixXd> cholesky(sigma);
  if (cholesky.info() == Eigen::Success && has_full_rank(sigma)) {
    return cholesky.matrixL().solve(v).squaredNorm();
  }
  const Eigen::CompleteOrthogonalDecomposition<MatrixXd> factored(sigma);
  const VectorXd solution = factored.solve(v);
  const bool in_range = (sigma * solution - v).norm() <= 1e-9 * v.norm();
  return in_range ? std::max(0.0, v.dot(solution)) : kInf;
}

}  // namespace

NoiseMetric::NoiseMetric(const Noise& noise, Index dimension) : noise_(noise) {
  const auto* constant = std::get_if<Covariance>(&noise);
  if (constant == nullptr) return;
  const Where where = Where::here();
  require_size("noise", sfumato::dimension(*constant), dimension, where);
  const Covariance valid = require_covariance("noise", *constant, where);
  const auto refuse_singular = [&] {
    throw InvalidArgument(
        "the noise is singular: drifts that differ in a direction without noise are told apart at "
        "once, the divergence is infinite",
        "Add noise in every direction", where);
  };
  if (std::holds_alternative<Isotropic>(valid) || std::holds_alternative<Diagonal>(valid)) {
    const VectorXd variances = diagonal_of(valid);
    if (!(variances.minCoeff() > 0.0)) refuse_singular();
    precisions_ = variances.cwiseInverse();
  } else {
    const MatrixXd sigma = dense(valid);
    if (!has_full_rank(sigma)) refuse_singular();
    whitening_ =
        Eigen::LLT<MatrixXd>(sigma).matrixL().solve(MatrixXd::Identity(dimension, dimension));
  }
}

void NoiseMetric::add_squared_distances(double time, const ConstPoints& at, const ConstPoints& a,
                                        const ConstPoints& b, double weight, double* sum,
                                        Points& scratch) const {
  const Index rows = a.rows(), columns = a.cols();
  const auto count = static_cast<std::size_t>(rows);
  if (precisions_.size() != 0) {
    for (Index i = 0; i < columns; ++i) {
      add_squared_difference(count, a.col(i).data(), b.col(i).data(), weight * precisions_(i), sum);
    }
    return;
  }
  scratch.resize(rows, 2 * columns);
  if (whitening_.size() != 0) {
    scratch.leftCols(columns) = a - b;
    linear_map(whitening_, VectorXd::Zero(columns), scratch.leftCols(columns),
               scratch.rightCols(columns));
    for (Index i = columns; i < 2 * columns; ++i) {
      const auto u = scratch.col(i);
      for (Index j = 0; j < rows; ++j) sum[j] += weight * (u(j) * u(j));
    }
  } else if (const auto* diagonal = std::get_if<DiagonalNoise>(&noise_)) {
    diagonal->variances(time, at, scratch.leftCols(columns));
    for (Index i = 0; i < columns; ++i) {
      for (Index j = 0; j < rows; ++j) {
        const double difference = a(j, i) - b(j, i);
        if (difference != 0.0) sum[j] += weight * (difference * difference / scratch(j, i));
      }
    }
  } else {
    const auto& noise = std::get<MatrixNoise>(noise_);
    for (Index j = 0; j < rows; ++j) {
      const VectorXd x = at.row(j).matrix().transpose();
      const VectorXd difference = (a.row(j) - b.row(j)).matrix().transpose();
      sum[j] += weight * squared_length(noise.covariance(time, x), difference);
    }
  }
}

}  // namespace sfumato
