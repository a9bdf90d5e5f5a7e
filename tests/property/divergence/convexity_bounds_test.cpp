// Spec §7 against random convex quadratics, where everything is exact.
#include "sfumato/divergence/convexity_bounds.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <cmath>

#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/ou_pair.hpp"
#include "support/random_pair.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::RandomPair;

constexpr int kCases = 1500;

struct Case {
  OuPair pair;
  LangevinConstants constants;
  SmoothStart start;
};

/// Two strongly convex quadratics with isotropic noise, from a point or a normal distribution.
Case random_case(RandomPair& random, bool equal_noise, bool point_start) {
  const Index d = random.integer(1, 5);
  const auto curvature = [&] {
    MatrixXd a = random.curvature(d, RandomPair::Shape::definite);
    return a;
  };
  const MatrixXd a = curvature();
  const MatrixXd a_prime = random.integer(0, 3) == 0 ? a : curvature();
  const VectorXd minimiser = random.vector(d);
  const VectorXd minimiser_prime =
      random.integer(0, 3) == 0 ? minimiser : VectorXd(minimiser + random.vector(d));
  const double variance = random.log_uniform(0.1, 10.0);
  const double variance_prime = equal_noise ? variance : random.log_uniform(0.1, 10.0);
  const GaussianDistribution start =
      point_start ? point_distribution(random.integer(0, 2) == 0 ? minimiser : random.vector(d))
                  : GaussianDistribution{random.vector(d), random.definite(d)};
  const auto convexity = [](const MatrixXd& m) {
    const VectorXd values = spectrum_of(m).values;
    return HessianBounds{values.minCoeff(), values.maxCoeff()};
  };
  LangevinConstants constants{convexity(a),
                              convexity(a_prime),
                              variance,
                              variance_prime,
                              d,
                              (minimiser - minimiser_prime).norm(),
                              (start.mean - minimiser).squaredNorm() + trace(start.covariance)};
  if (random.integer(0, 1) == 0) {
    constants.gradient_at_minimiser = (a_prime * (minimiser - minimiser_prime)).norm();
  }
  SmoothStart smooth{kInf, 0.0};
  if (!point_start) {
    const MatrixXd v = dense(start.covariance);
    smooth.fisher_information = v.llt().solve(MatrixXd::Identity(d, d)).trace();
    smooth.lsi_constant = 2.0 * spectrum_of(v).values.maxCoeff();
  }
  return {{{a, a * minimiser, Isotropic{variance, d}},
           start,
           {a_prime, a_prime * minimiser_prime, Isotropic{variance_prime, d}},
           start},
          constants,
          smooth};
}

double value(const KlBound& bound) { return bound.kl.value.value(); }

void expect_bound(double bound, double exact) { EXPECT_GE(bound, exact * (1.0 - 1e-10) - 1e-13); }

TEST(ConvexityBoundsProperty, EqualNoise) {
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomPair random(seed);
    const Case c = random_case(random, true, seed % 2 == 0);
    const double time = random.log_uniform(1e-4, 100.0);
    const double exact = exact_kl(c.pair, time).value.value();
    const double finite = value(kl_bound_finite_time(c.constants, time));
    const double uniform = value(kl_bound_uniform(c.constants));
    expect_bound(finite, exact);
    EXPECT_LE(finite, uniform * (1.0 + 1e-9));
    const double stationary = value(kl_bound_stationary(c.constants));
    expect_bound(stationary, exact_kl(c.pair, kInf).value.value());
    EXPECT_NEAR(value(kl_bound_finite_time(c.constants, kInf)), stationary, 1e-12 * stationary);
    EXPECT_NEAR(value(kl_bound_finite_time(c.constants, 1e4)), stationary, 1e-9 * stationary);
    if (seed % 2 == 1) expect_bound(value(kl_bound_unequal(c.constants, c.start, time)), exact);
  }
}

TEST(ConvexityBoundsProperty, UnequalNoise) {
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomPair random(1'000'000 + seed);
    const Case c = random_case(random, false, false);
    const double time = random.log_uniform(1e-4, 100.0);
    expect_bound(value(kl_bound_unequal(c.constants, c.start, time)),
                 exact_kl(c.pair, time).value.value());
    expect_bound(value(kl_bound_stationary(c.constants)), exact_kl(c.pair, kInf).value.value());
    const double limit = value(kl_bound_unequal(c.constants, c.start, kInf));
    EXPECT_NEAR(value(kl_bound_unequal(c.constants, c.start, 1e4)), limit, 1e-8 * limit);
  }
}

TEST(ConvexityBoundsProperty, DistanceAndLogSobolevConstants) {
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomPair random(2'000'000 + seed);
    const Case c = random_case(random, true, false);
    const double time = random.log_uniform(1e-4, 100.0);
    const OuDistribution distribution(c.pair.p, c.pair.start_p);
    const VectorXd minimiser = c.pair.p.curvature.llt().solve(c.pair.p.pull);
    const double dimension = static_cast<double>(c.constants.dimension);
    const double kappa = c.constants.f.kappa;
    expect_bound(mean_square_distance_bound(dimension * c.constants.variance, kappa,
                                            c.constants.start_distance, time),
                 distribution.error(time, minimiser));
    // A normal distribution has the constant 2 lam_max(V).
    const double exact =
        2.0 * spectrum_of(dense(distribution.at(time).covariance)).values.maxCoeff();
    const double bound = lsi_constant(c.constants.variance, kappa, c.start.lsi_constant, time);
    expect_bound(bound, exact);
    const double stationary = c.constants.variance / kappa;
    EXPECT_GE(bound, std::min(c.start.lsi_constant, stationary) * (1.0 - 1e-12));
    EXPECT_LE(bound, std::max(c.start.lsi_constant, stationary) * (1.0 + 1e-12));
  }
}

}  // namespace
}  // namespace sfumato
