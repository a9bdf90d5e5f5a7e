#include "sfumato/risk/chain_convexity.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <cmath>
#include <limits>

#include "sfumato/divergence/linear_chain.hpp"
#include "support/random_problem.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::RandomProblem;

HessianBounds bounds_of(const MatrixXd& a) {
  const VectorXd values = Eigen::SelfAdjointEigenSolver<MatrixXd>(a).eigenvalues();
  return {values(0) * (1.0 - 1e-12), values(values.size() - 1) * (1.0 + 1e-12)};
}

TEST(ChainConvexityProperty, NeverBelowTheExactKlOfQuadratics) {
  double closest = 1e300;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomProblem random(seed);
    const Index d = random.integer(1, 3);
    const auto a = random.curvature(d, RandomProblem::Shape::definite);
    // Often the same curvature, where the bound is sharp.
    const MatrixXd b =
        random.integer(0, 1) == 0 ? a : random.curvature(d, RandomProblem::Shape::definite);
    const VectorXd pull = random.vector(d);
    const VectorXd pull_prime = random.vector(d);
    const double variance = random.log_uniform(0.1, 10.0);
    const HessianBounds f = bounds_of(a);
    const HessianBounds g = bounds_of(b);
    // Also a few steps that are too long: many would leave the exact distribution without digits.
    const bool diverges = random.integer(0, 9) == 0;
    const double eta = random.log_uniform(diverges ? 2.0 : 0.01, diverges ? 2.5 : 1.99) /
                       std::max(f.lipschitz, g.lipschitz);
    const double steps = !diverges && random.integer(0, 9) == 0
                             ? std::numeric_limits<double>::infinity()
                             : std::floor(random.log_uniform(1.0, diverges ? 10.0 : 3000.0));
    const GaussianDistribution start = random.start(d);
    const VectorXd x = a.ldlt().solve(pull);
    const VectorXd y = b.ldlt().solve(pull_prime);
    const LangevinConstants constants{
        f,
        g,
        variance,
        variance,
        d,
        (x - y).norm() * (1.0 + 1e-9),
        ((start.mean - x).squaredNorm() + trace(start.covariance)) * (1.0 + 1e-9),
        (b * x - pull_prime).norm() * (1.0 + 1e-9),
        {}};
    const Covariance noise = Isotropic{eta * variance, d};
    const double bound = kl_bound_chain(constants, eta, steps).kl.value.value();
    const double exact =
        exact_kl({{a, pull, eta, noise}, start, {b, pull_prime, eta, noise}, start}, steps)
            .value.value();
    ASSERT_GE(bound, exact * (1.0 - 1e-9)) << "steps " << steps << " eta " << eta;
    if (exact > 0.0) closest = std::min(closest, bound / exact);
  }
  EXPECT_LT(closest, 1.001);  // one-dimensional shifts attain it
}

}  // namespace
}  // namespace sfumato
