#include "sfumato/fit/metric.hpp"

#include <algorithm>
#include <cmath>

#include "sfumato/core/error.hpp"
#include "sfumato/math/symmetric_eigen.hpp"

namespace sfumato {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

SymmetricEigen eigen_of(const MatrixXd& matrix) {
  SymmetricEigen eigen(matrix);
  if (!eigen.converged()) {
    throw NumericalFailure("the eigenvalues of the released moments were not found",
                           "Release again with more noise or fewer features");
  }
  return eigen;
}

MatrixXd symmetric(const MatrixXd& matrix) { return 0.5 * (matrix + matrix.transpose()); }

/// Eigenvalues without the noise that a release of edge `edge` added (Spec §22.4): above the edge it pushed them up by about edge^2 / 4h; those below are
/// noise, and share what the trace leaves.
VectorXd without_noise(const VectorXd& found, double edge) {
  VectorXd clean = VectorXd::Zero(found.size());
  double hidden = 0.0;
  for (Index j = 0; j < found.size(); ++j) {
    if (found(j) > edge) {
      clean(j) = 0.5 * (found(j) + std::sqrt((found(j) - edge) * (found(j) + edge)));
    } else {
      ++hidden;
    }
  }
  if (hidden == 0.0) return clean;
  const double share = std::clamp((found.sum() - clean.sum()) / hidden, 0.0, 0.5 * edge);
  for (Index j = 0; j < found.size(); ++j) {
    if (!(found(j) > edge)) clean(j) = share;
  }
  return clean;
}

}  // namespace

ReleasedMetric ReleasedMetric::of_features(Index dim) {
  return {MatrixXd::Zero(dim, dim), MatrixXd::Identity(dim, dim), MatrixXd::Identity(dim, dim),
          VectorXd::Zero(dim),      VectorXd::Zero(dim),          1.0};
}

RowMajor in_metric(const RowMajor& x, const MatrixXd& root) {
  RowMajor z(x.rows(), root.rows());
  for (Index i = 0; i < x.rows(); ++i) z.row(i).noalias() = x.row(i) * root.transpose();
  return z;
}

void shorten_rows(double bound, RowMajor* rows) {
  for (Index i = 0; i < rows->rows(); ++i) {
    const double norm = rows->row(i).norm();
    if (norm > bound) rows->row(i) *= bound / norm * (1.0 - 1e-12);
    if (!std::isfinite(norm)) rows->row(i).setZero();
  }
}

ReleasedMetric metric_of(const NoisyMoments& released, const ReleasedMetric& base, double rows,
                         double metric_ridge, double floor_per_dim) {
  const auto d = static_cast<double>(released.sum.rows());
  const double edge = released.noise_std * std::sqrt(2.0 * d) / rows;
  const double ridge = metric_ridge * edge;
  const SymmetricEigen eigen = eigen_of(released.sum / rows);
  const VectorXd found = without_noise(eigen.eigenvalues(), edge);
  const MatrixXd into_features = base.inverse_root * eigen.eigenvectors();
  const MatrixXd estimate = into_features * found.asDiagonal() * into_features.transpose();
  const double dims = std::max(1.0, (found.array() / (found.array() + ridge)).sum());
  MatrixXd inverse = symmetric(estimate + ridge * into_features * into_features.transpose());
  inverse.diagonal().array() += floor_per_dim * dims;
  const SymmetricEigen metric = eigen_of(inverse);
  // Rounding may leave a direction that is nothing: no release, and no row, says anything of it.
  const VectorXd scale =
      metric.eigenvalues().cwiseMax(1e-14 * metric.eigenvalues().maxCoeff()).cwiseSqrt();
  const MatrixXd root = scale.cwiseInverse().asDiagonal() * metric.eigenvectors().transpose();
  // Turned so that the estimate is diagonal: directions of z are then told apart by `reach`.
  const SymmetricEigen turned = eigen_of(symmetric(root * estimate * root.transpose()));
  const MatrixXd& turn = turned.eigenvectors();
  ReleasedMetric result{rows * estimate,
                        turn.transpose() * root,
                        metric.eigenvectors() * scale.asDiagonal() * turn,
                        turned.eigenvalues().cwiseMax(0.0).cwiseMin(1.0),
                        {},
                        1.0};
  result.noise_edge = edge * (result.root * base.inverse_root).rowwise().squaredNorm();
  result.effective_dim = std::max(1.0, result.reach.sum());
  return result;
}

ReleasedMetric release_metric(const RowMajor& features, const PublicTable& table,
                              const FitPlan& plan, ReleaseBits& bits, Observer& observer,
                              std::vector<MomentsRelease>* trace) {
  const PlannedMetric& planned = *plan.metric();
  ReleasedMetric metric = ReleasedMetric::of_features(features.cols());
  for (std::uint64_t round = 1; round <= planned.rounds; ++round) {
    const bool first = round == 1, last = round == planned.rounds;
    const double bound =
        first ? plan.bound : planned.rows_in_metric * std::sqrt(metric.effective_dim);
    RowMajor again;
    if (!first) {
      again = in_metric(features, metric.root);
      shorten_rows(bound, &again);
    }
    NoisyMoments moments = release_moments(
        first ? features : again, {bound, plan.round_mu(), static_cast<double>(table.rows)},
        {table.relation, plan.noise_mode, bits}, observer);
    ReleasedMetric next =
        metric_of(moments, metric, plan.rows, last ? planned.ridge : kEarlyRidge * planned.ridge,
                  planned.floor);
    if (trace != nullptr) trace->push_back({std::move(metric), bound, std::move(moments)});
    metric = std::move(next);
  }
  return metric;
}

}  // namespace sfumato
