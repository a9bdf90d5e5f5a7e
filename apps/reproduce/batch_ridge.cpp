#include "reproduce/batch_ridge.hpp"

#include <limits>

#include "sfumato/divergence/gaussian_kl.hpp"
#include "sfumato/divergence/ou_pair.hpp"
#include "sfumato/sde/minibatch.hpp"

namespace sfumato::apps {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// The table without one row.
RidgeData without(const RidgeData& data, Eigen::Index row) {
  const Eigen::Index rest = data.features.rows() - row - 1;
  RidgeData less{MatrixXd(data.features.rows() - 1, data.features.cols()),
                 VectorXd(data.targets.size() - 1)};
  less.features.topRows(row) = data.features.topRows(row);
  less.features.bottomRows(rest) = data.features.bottomRows(rest);
  less.targets.head(row) = data.targets.head(row);
  less.targets.tail(rest) = data.targets.tail(rest);
  return less;
}

/// dX = -grad f dt + noise, with the covariance of the minibatch gradient at the minimiser.
OuProcess process_of(const RidgeData& data, double ridge, double learning_rate,
                     Eigen::Index batch) {
  const RidgeProblem problem = ridge_problem(data, ridge);
  const VectorXd residuals = data.features * problem.minimiser() - data.targets;
  const MatrixXd gradients = residuals.asDiagonal() * data.features;
  const Covariance estimator =
      minibatch_covariance(gradients, {batch, BatchSampling::without_replacement, LossScale::mean});
  return {problem.loss().curvature, problem.loss().pull,
          minibatch_diffusion_covariance(estimator, learning_rate)};
}

}  // namespace

std::vector<BatchPoint> kl_against_batch(const RidgeData& data, double ridge, Eigen::Index row,
                                         double learning_rate,
                                         const std::vector<Eigen::Index>& batches) {
  const RidgeData other = without(data, row);
  const double infinite = std::numeric_limits<double>::infinity();
  std::vector<BatchPoint> points;
  for (const Eigen::Index batch : batches) {
    if (batch >= other.features.rows()) {
      points.push_back({batch, infinite, infinite, infinite});
      continue;
    }
    const OuProcess p = process_of(data, ridge, learning_rate, batch);
    const OuProcess q = process_of(other, ridge, learning_rate, batch);
    const GaussianDistribution start = point_distribution(VectorXd::Zero(p.pull.size()));
    const WhitenedPair pair = distributions_at({p, start, q, start}, infinite);
    WhitenedPair centred = pair;
    centred.shift.setZero();
    const double kl = gaussian_kl(pair).value.value();
    const double covariance = gaussian_kl(centred).value.value();
    points.push_back({batch, kl - covariance, covariance, kl});
  }
  return points;
}

}  // namespace sfumato::apps
