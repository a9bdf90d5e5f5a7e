// Entropies and rates of Spec §6.1 from densities on a grid, against Gaussian formulas.
#include "sfumato/divergence/grid_entropy.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/divergence/gaussian_hockey_stick.hpp"
#include "sfumato/divergence/gaussian_kl.hpp"
#include "support/fokker_planck_problems.hpp"

namespace sfumato {
namespace {

using Eigen::ArrayXd;
using Eigen::VectorXd;

GaussianDistribution normal(double mean, double variance) {
  return {VectorXd::Constant(1, mean), Isotropic{variance, 1}};
}

/// Rates of KL(p || q) for N(m, v) under dX = -k (X - c) dt + sqrt(s) dW, in closed form.
struct Scalar {
  double k, c, s, m, v;
  [[nodiscard]] StartedDiffusion started() const {
    return testing::ornstein_uhlenbeck(k, c, s, m, v);
  }
  [[nodiscard]] double mean_rate() const { return -k * (m - c); }
  [[nodiscard]] double variance_rate() const { return -2.0 * k * v + s; }
};

double exact_rate(const Scalar& p, const Scalar& q) {
  // KL = 1/2 ( log(v'/v) - 1 + (v + g^2)/v' ),  g = m - m'
  const double g = p.m - q.m;
  return 0.5 * (q.variance_rate() / q.v - p.variance_rate() / p.v +
                (p.variance_rate() + 2.0 * g * (p.mean_rate() - q.mean_rate())) / q.v -
                (p.v + g * g) * q.variance_rate() / (q.v * q.v));
}

/// (1/2) E_p (a + b (X - m))^2 / s for a linear field around the mean.
double half_square(double at_mean, double slope, double v, double s) {
  return 0.5 * (at_mean * at_mean + slope * slope * v) / s;
}
double primal(const Scalar& p, const Scalar& q) {
  const double noise = 0.5 * (q.s - p.s);
  const double drift = -q.k * (p.m - q.c) + p.k * (p.m - p.c);
  return half_square(-noise * (p.m - q.m) / q.v - drift, -noise / q.v + q.k - p.k, p.v, p.s);
}
double dual(const Scalar& p, const Scalar& q) {
  const double noise = 0.5 * (q.s - p.s);
  const double drift = -q.k * (p.m - q.c) + p.k * (p.m - p.c);
  return half_square(-drift, -noise / p.v + q.k - p.k, p.v, q.s);
}

TEST(GridEntropy, GaussianPairInBothDirections) {
  const Scalar p{1.0, 0.3, 0.8, 0.2, 0.4};
  const Scalar q{1.5, -0.2, 1.1, -0.1, 0.5};
  const Grid grid({{-7.0, 7.0}}, 4000);
  const ArrayXd dp = gaussian_density(grid, p.started().start);
  const ArrayXd dq = gaussian_density(grid, q.started().start);
  FaceSampler cp(p.started().diffusion, grid);
  FaceSampler cq(q.started().diffusion, grid);
  const GridEntropy found = grid_entropy(grid, dp, *cp.at(0.0), dq, *cq.at(0.0));
  const WhitenedPair pair = whiten(p.started().start, q.started().start);
  EXPECT_NEAR(found.forward.kl, gaussian_kl(pair).value.value(), 1e-12);
  EXPECT_NEAR(found.reverse.kl, gaussian_kl(swapped(pair)).value.value(), 1e-12);
  EXPECT_NEAR(found.forward.rate, exact_rate(p, q), 1e-5);
  EXPECT_NEAR(found.forward.primal, primal(p, q), 1e-5);
  EXPECT_NEAR(found.forward.dual, dual(p, q), 1e-5);
  EXPECT_NEAR(found.reverse.rate, exact_rate(q, p), 1e-5);
  EXPECT_NEAR(found.reverse.primal, primal(q, p), 1e-5);
  EXPECT_NEAR(found.reverse.dual, dual(q, p), 1e-5);
  EXPECT_LE(found.forward.rate, std::min(found.forward.primal, found.forward.dual));
}

TEST(GridEntropy, HockeyStickAndTotalVariation) {
  const Grid grid({{-8.0, 8.0}}, 4000);
  const GaussianDistribution p = normal(0.2, 0.4);
  const GaussianDistribution q = normal(-0.1, 0.5);
  const ArrayXd dp = gaussian_density(grid, p);
  const ArrayXd dq = gaussian_density(grid, q);
  const WhitenedPair pair = whiten(p, q);
  for (const double epsilon : {-0.5, 0.0, 0.3, 1.0}) {
    EXPECT_NEAR(grid_hockey_stick(grid, dp, dq, epsilon),
                gaussian_hockey_stick(pair, epsilon).delta, 2e-6)
        << epsilon;
  }
  EXPECT_NEAR(grid_hockey_stick(grid, dp, dq, 0.0), grid_hockey_stick(grid, dq, dp, 0.0), 1e-14);
}

TEST(GridEntropy, IdenticalDistributionsGiveZero) {
  const Grid grid({{-5.0, 5.0}}, 100);
  const auto distribution = testing::double_well_p();
  const ArrayXd p = gaussian_density(grid, distribution.start);
  FaceSampler sampler(distribution.diffusion, grid);
  const GridEntropy found = grid_entropy(grid, p, *sampler.at(0.0), p, *sampler.at(0.0));
  for (const DirectedEntropy& side : {found.forward, found.reverse}) {
    EXPECT_EQ(side.kl, 0.0);
    EXPECT_EQ(side.rate, 0.0);
    EXPECT_EQ(side.primal, 0.0);
    EXPECT_EQ(side.dual, 0.0);
  }
  EXPECT_EQ(grid_hockey_stick(grid, p, p, 0.0), 0.0);
}

TEST(GridEntropy, LeavesOutWhatTheGridCannotHold) {
  // q vanishes below double precision where p has 1e-16 of its mass: no infinite entropy, no NaN.
  const Grid grid({{-20.0, 20.0}}, 800);
  const ArrayXd p = gaussian_density(grid, normal(0.0, 1.0));
  const ArrayXd q = gaussian_density(grid, normal(0.0, 0.06));
  FaceSampler sampler(testing::double_well_p().diffusion, grid);
  const Coefficients& faces = *sampler.at(0.0);
  const GridEntropy found = grid_entropy(grid, q, faces, p, faces);
  EXPECT_TRUE(std::isfinite(found.forward.kl) && std::isfinite(found.reverse.kl));
  const ArrayXd far = gaussian_density(grid, normal(15.0, 0.02));
  EXPECT_THROW((void)grid_entropy(grid, p, faces, far, faces), NumericalFailure);
}

TEST(GridEntropy, RefusesOtherSizesAndInfiniteEpsilon) {
  const Grid grid({{-5.0, 5.0}}, 100);
  const ArrayXd p = ArrayXd::Constant(100, 0.1);
  const Coefficients none(1);
  EXPECT_THROW((void)grid_entropy(grid, p.head(3), none, p, none), InvalidArgument);
  EXPECT_THROW((void)grid_hockey_stick(grid, p.head(3), p, 0.0), InvalidArgument);
  EXPECT_THROW((void)grid_hockey_stick(grid, p, p, INFINITY), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
