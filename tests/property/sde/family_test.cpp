#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>

#include "sfumato/sde/contraction.hpp"
#include "sfumato/sde/family/mixture.hpp"
#include "support/random_problem.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::RandomProblem;

VectorXd drift(const Diffusion& diffusion, const VectorXd& at) {
  const Points point = at.transpose().array();
  Points out(1, at.size());
  diffusion.drift(0.0, point, out);
  return out.matrix().transpose();
}

TEST(MixtureDiffusion, DriftIsTheGradientAndConstantsHold) {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    RandomProblem random(seed);
    const Index d = random.integer(1, 3);
    const MatrixXd root = random.matrix(d, d);
    const MatrixXd common = root * root.transpose() + 0.1 * MatrixXd::Identity(d, d);
    const bool equal = random.integer(0, 1) == 0;
    GaussianMixture mixture;
    for (int k = random.integer(1, 4); k > 0; --k) {
      const MatrixXd other = random.matrix(d, d);
      mixture.weights.push_back(random.log_uniform(0.1, 10.0));
      mixture.components.push_back(
          {random.vector(d),
           Dense{equal ? common
                       : MatrixXd(other * other.transpose() + 0.1 * MatrixXd::Identity(d, d))}});
    }
    const double variance = random.log_uniform(0.1, 10.0);
    const double ridge = random.uniform(0.0, 1.0);
    const Diffusion diffusion = mixture_diffusion(mixture, variance, ridge);
    const auto potential = [&](const VectorXd& x) {
      double density = 0.0;
      for (std::size_t k = 0; k < mixture.weights.size(); ++k) {
        const GaussianDistribution& distribution = mixture.components[k];
        const VectorXd gap = x - distribution.mean;
        density += mixture.weights[k] *
                   std::exp(-0.5 * gap.dot(solve(distribution.covariance, gap).col(0)) -
                            0.5 * log_det(distribution.covariance));
      }
      return -0.5 * variance * std::log(density) + 0.5 * ridge * x.squaredNorm();
    };
    const VectorXd x = random.vector(d);
    const VectorXd u = random.vector(d).normalized();
    const double h = 1e-5;
    const double slope = (potential(x + h * u) - potential(x - h * u)) / (2 * h);
    const VectorXd here = drift(diffusion, x);
    EXPECT_NEAR(-here.dot(u), slope, 1e-6 * (1.0 + here.norm() + variance));

    const auto bounds = mixture_hessian_bounds(mixture, variance, ridge);
    ASSERT_EQ(bounds.has_value(), equal || mixture.weights.size() == 1);
    if (!bounds) continue;
    const VectorXd y = x + random.log_uniform(1e-3, 3.0) * random.vector(d);
    const double along = -(drift(diffusion, x) - drift(diffusion, y)).dot(x - y);
    const double square = (x - y).squaredNorm();
    EXPECT_GE(along, bounds->kappa * square - 1e-9 * bounds->lipschitz * (1.0 + square));
    EXPECT_LE(along, bounds->lipschitz * square * (1 + 1e-9) + 1e-9);
    const Covariance metric = Diagonal{random.vector(d).cwiseAbs2().array() + 0.1};
    const VectorXd dual = solve(metric, x - y).col(0);
    const double contracted = -(drift(diffusion, x) - drift(diffusion, y)).dot(dual);
    EXPECT_GE(contracted, diffusion.contraction(metric) * (x - y).dot(dual) -
                              1e-8 * bounds->lipschitz * (1.0 + square));
  }
}

}  // namespace
}  // namespace sfumato
