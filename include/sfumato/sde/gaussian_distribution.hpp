#pragma once

#include <Eigen/Core>

#include "sfumato/math/covariance.hpp"
#include "sfumato/math/whitened_pair.hpp"

namespace sfumato {

/// The normal distribution N(mean, covariance); the covariance may be singular.
struct GaussianDistribution {
  Eigen::VectorXd mean;
  Covariance covariance;
};

/// All mass at one point: how a flow starts when its start is not random.
[[nodiscard]] inline GaussianDistribution point_distribution(const Eigen::VectorXd& point) {
  return {point, Isotropic{0.0, point.size()}};
}

/// Whether two distributions are the same, entry by entry.
[[nodiscard]] inline bool same_distribution(const GaussianDistribution& a,
                                            const GaussianDistribution& b) {
  return a.mean == b.mean && same_matrix(a.covariance, b.covariance);
}

/// E|x - y|^2 for the farthest point y within `radius` of `point`.
[[nodiscard]] inline double mean_squared_distance(const GaussianDistribution& distribution,
                                                  const Eigen::VectorXd& point,
                                                  double radius = 0.0) {
  const double length = (distribution.mean - point).norm() + radius;
  return length * length + trace(distribution.covariance);
}

/// The pair in coordinates where p is standard normal (Spec §3.2).
[[nodiscard]] inline WhitenedPair whiten(const GaussianDistribution& p,
                                         const GaussianDistribution& q) {
  return whiten(p.mean, p.covariance, q.mean, q.covariance);
}

}  // namespace sfumato
