#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstdint>

#include "sfumato/divergence/linear_chain.hpp"
#include "sfumato/divergence/ou_pair.hpp"
#include "support/random_problem.hpp"

namespace sfumato::testing {

/// Random pairs of processes for property tests: near and far neighbours, commuting or not, with
/// equal or unequal noise, from points and from normal distributions. One seed per case.
class RandomPair : public RandomProblem {
 public:
  enum class NoiseOf { equal, unequal };
  enum class StartOf { common, different };

  explicit RandomPair(std::uint64_t seed) : RandomProblem(seed) {}

  /// Positive definite, condition number up to about 100.
  Covariance definite(Eigen::Index d) {
    const double scale = log_uniform(0.1, 10.0);
    Eigen::VectorXd values(d);
    for (double& value : values) value = scale * log_uniform(0.1, 10.0);
    switch (integer(0, 3)) {
      case 0: return Isotropic{scale, d};
      case 1: return Diagonal{values};
      case 2: return Factored{values, matrix(d, 1)};
      default: {
        const Eigen::MatrixXd q = rotation(d);
        const Eigen::MatrixXd m = q * values.asDiagonal() * q.transpose();
        return Dense{0.5 * (m + m.transpose())};
      }
    }
  }

  /// The second process near or far from the first; one in four shares its curvature, one in four
  /// its minimiser.
  OuProcess neighbour(const OuProcess& p, NoiseOf noise) {
    const Eigen::Index d = p.pull.size();
    OuProcess q = p;
    const double size = log_uniform(1e-4, 1.0);
    const int kind = integer(0, 3);
    if (kind != 0) {
      const Eigen::MatrixXd root = matrix(d, d);
      q.curvature += (integer(0, 4) == 0 ? -0.2 : 1.0) * size * root * root.transpose();
    }
    if (kind != 1) q.pull += size * vector(d);
    if (kind == 3) q.curvature = curvature(d, Shape::definite);
    if (noise == NoiseOf::unequal) q.noise = definite(d);
    return q;
  }

  OuPair pair(Eigen::Index d, NoiseOf noise, StartOf start) {
    const Shape shape = integer(0, 3) == 0 ? Shape::singular : Shape::definite;
    OuPair result;
    result.p = process(d, shape);
    result.p.noise = definite(d);
    result.q = neighbour(result.p, noise);
    const bool point = noise == NoiseOf::equal && start == StartOf::common && integer(0, 1) == 0;
    result.start_p =
        point ? point_distribution(vector(d)) : GaussianDistribution{vector(d), definite(d)};
    result.start_q =
        start == StartOf::common ? result.start_p : GaussianDistribution{vector(d), definite(d)};
    return result;
  }

  /// The chain of an equal-noise pair with a stable or barely unstable learning rate.
  LinearChainPair chain(Eigen::Index d, StartOf start) {
    const OuPair flow = pair(d, NoiseOf::equal, start);
    const double largest = flow.q.curvature.norm() + flow.p.curvature.norm();
    const double eta = uniform(0.01, 1.2) / std::max(largest, 0.1);
    const Covariance noise = scaled(flow.p.noise, eta);
    return {{flow.p.curvature, flow.p.pull, eta, noise},
            flow.start_p,
            {flow.q.curvature, flow.q.pull, eta, noise},
            flow.start_q};
  }
};

}  // namespace sfumato::testing
