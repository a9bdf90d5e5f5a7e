// Spec §14, items 5 and 11: no bound of Spec §6 below the exact KL of Ornstein-Uhlenbeck pairs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/contractive_bound.hpp"
#include "sfumato/divergence/entropy_rate.hpp"
#include "sfumato/divergence/langevin_gdp.hpp"
#include "sfumato/sde/contraction.hpp"
#include "support/cases.hpp"
#include "support/random_pair.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::RandomPair;
using NoiseOf = RandomPair::NoiseOf;
using StartOf = RandomPair::StartOf;

const std::uint64_t kCases = testing::cases(1500);  // of each kind, both directions

double value(const KlBound& bound) { return bound.kl.value.value(); }

/// Not below the exact value, up to the rounding of the exact value itself: the KL of two nearly
/// equal distributions is a difference of covariances that agree in most digits.
void expect_bound(double bound, double exact) { EXPECT_GE(bound, exact * (1.0 - 1e-10) - 1e-13); }

StartOf start_of(std::uint64_t seed) {
  return seed % 3 == 0 ? StartOf::different : StartOf::common;
}

TEST(OuBoundsProperty, EqualNoise) {
  std::uint64_t contractive = 0;
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomPair random(seed);
    const Index d = random.integer(1, 5);
    const OuPair forward = random.pair(d, NoiseOf::equal, start_of(seed));
    const double time = random.log_uniform(1e-3, 30.0);
    for (const OuPair& pair : {forward, swapped(forward)}) {
      const double exact = exact_kl(pair, time).value.value();
      const EntropyRateBounds rates = entropy_rate_bounds(pair, time);
      const ContractiveBound best = best_contractive_bound(pair, time);
      const double path = value(path_bound(pair, time));
      expect_bound(value(rates.pointwise_minimum), exact);
      expect_bound(path, exact);
      expect_bound(value(best.bound), exact);
      EXPECT_LE(value(best.bound), path * (1.0 + 1e-10));
      EXPECT_DOUBLE_EQ(value(rates.primal), path);
      const OuDriftGap gap(pair.p, pair.start_p, pair.q);
      const DriftGap function{[&gap](double s) { return gap.at(s); }, gap.time_scale()};
      const double kappa = std::max(best.proven_rate, 0.0);
      contractive += kappa > 0.0 ? 1U : 0U;
      const double start = start_kl(pair.start_p, pair.start_q);
      for (const double share : {1.0, random.uniform(0.0, 1.0)}) {
        const double bound = start + contractive_bound(function, share * kappa, time);
        expect_bound(bound, exact);
        EXPECT_LE(value(best.bound), bound * (1.0 + 1e-10));
      }
    }
  }
  EXPECT_GT(contractive, kCases / 2);  // of 2 kCases: the test is not about kappa = 0 alone
}

TEST(OuBoundsProperty, UnequalNoise) {
  const std::uint64_t count = testing::cases(1500, 8);
  std::uint64_t dual_better = 0;
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomPair random(1'000'000 + seed);
    const Index d = random.integer(1, 5);
    const OuPair forward = random.pair(d, NoiseOf::unequal, start_of(seed));
    const double time = random.log_uniform(1e-3, 30.0);
    for (const OuPair& pair : {forward, swapped(forward)}) {
      const double exact = exact_kl(pair, time).value.value();
      const EntropyRateBounds bounds = entropy_rate_bounds(pair, time);
      expect_bound(value(bounds.primal), exact);
      expect_bound(value(bounds.dual), exact);
      expect_bound(value(bounds.pointwise_minimum), exact);
      EXPECT_LE(value(bounds.pointwise_minimum),
                std::min(value(bounds.primal), value(bounds.dual)));
      dual_better += value(bounds.dual) < value(bounds.primal) ? 1U : 0U;
      const EntropyRate rate = OuEntropyRate(pair).at(time);
      ASSERT_TRUE(rate.exact.has_value());
      const double slack = 1e-9 * (std::abs(*rate.exact) + rate.primal + rate.dual) + 1e-12;
      EXPECT_LE(*rate.exact, std::min(rate.primal, rate.dual) + slack);
    }
  }
  EXPECT_GT(dual_better, count / 10);  // neither form dominates
  EXPECT_LT(dual_better, 2 * count - count / 10);
}

TEST(OuBoundsProperty, ExactRateIsTheSlopeOfTheKl) {
  for (std::uint64_t seed = 0; seed < testing::cases(600); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomPair random(2'000'000 + seed);
    const Index d = random.integer(1, 4);
    const NoiseOf noise = seed % 2 == 0 ? NoiseOf::unequal : NoiseOf::equal;
    const OuPair pair = random.pair(d, noise, start_of(seed));
    const double from = random.log_uniform(0.05, 3.0);
    const double to = from * random.uniform(1.1, 2.0);
    const OuEntropyRate rate(pair);
    double integral = 0.0;  // composite Simpson
    constexpr int kPanels = 200;
    const double step = (to - from) / kPanels;
    double size = 0.0;
    for (int i = 0; i <= kPanels; ++i) {
      const double weight = i == 0 || i == kPanels ? 1.0 : (i % 2 == 1 ? 4.0 : 2.0);
      const double at = rate.at(from + i * step).exact.value();
      integral += weight * at * step / 3.0;
      size += std::abs(at) * step;
    }
    const double before = exact_kl(pair, from).value.value();
    const double after = exact_kl(pair, to).value.value();
    EXPECT_NEAR(after - before, integral, 1e-6 * (size + 1e-6) + 1e-12 * before);
  }
}

// Constant D: equal curvature kappa I, shifted minimisers, a common point start. Any Sigma
// commutes.
TEST(OuBoundsProperty, SharpCaseIsAttained) {
  for (std::uint64_t seed = 0; seed < testing::cases(1000); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomPair random(3'000'000 + seed);
    const Index d = random.integer(1, 5);
    const double kappa = random.log_uniform(0.01, 10.0);
    const OuProcess p{kappa * MatrixXd::Identity(d, d), random.vector(d), random.definite(d)};
    OuProcess q = p;
    q.pull += random.vector(d);
    const GaussianDistribution start = point_distribution(random.vector(d));
    const double time = random.log_uniform(1e-4, 1e4);
    const OuPair pair{p, start, q, start};
    const double exact = exact_kl(pair, time).value.value();
    const ContractiveBound bound = best_contractive_bound(pair, time);
    EXPECT_NEAR(value(bound.bound), exact, 1e-10 * exact);
    const double gap = OuDriftGap(p, start, q).at(0.0);
    const double closed = gap / kappa * std::tanh(0.5 * kappa * time);
    EXPECT_GE(value(bound.bound), closed * (1.0 - 1e-15));
    EXPECT_LE(value(bound.bound), closed * (1.0 + 1e-11));
    const double sensitivity = std::sqrt(OuDriftGap(p, start, q).at(0.0));
    EXPECT_NEAR(langevin_gdp(sensitivity, kappa, time).kl.value.value(), exact, 1e-10 * exact);
    const double stationary = exact_kl(pair, kInf).value.value();
    EXPECT_NEAR(value(best_contractive_bound(pair, kInf).bound), stationary, 1e-10 * stationary);
  }
}

TEST(OuBoundsProperty, LongTimesApproachTheLimit) {
  for (std::uint64_t seed = 0; seed < testing::cases(300); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomPair random(4'000'000 + seed);
    const Index d = random.integer(1, 4);
    OuPair pair = random.pair(d, NoiseOf::equal, StartOf::common);
    pair.p.curvature += 0.1 * MatrixXd::Identity(d, d);  // a stationary distribution
    const double kappa = linear_contraction(pair.q.curvature, pair.p.noise);
    if (kappa < 0.05) continue;
    const OuDriftGap gap(pair.p, pair.start_p, pair.q);
    const DriftGap function{[&gap](double s) { return gap.at(s); }, gap.time_scale()};
    const double limit = value(best_contractive_bound(pair, kInf).bound);
    EXPECT_NEAR(contractive_bound(function, kappa, 1e4), limit, 1e-9 * limit);
    expect_bound(limit, exact_kl(pair, kInf).value.value());
  }
}

// Starts with a density down to 1e-12: the layer at time 0 is found, and a short and a long
// horizon.
TEST(OuBoundsProperty, NarrowStarts) {
  for (std::uint64_t seed = 0; seed < testing::cases(300); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomPair random(5'000'000 + seed);
    const Index d = random.integer(1, 4);
    OuPair pair = random.pair(d, NoiseOf::unequal, StartOf::common);
    pair.start_p.covariance = scaled(pair.start_p.covariance, random.log_uniform(1e-12, 1e-3));
    pair.start_q = pair.start_p;
    const double time = random.log_uniform(1e-9, 1e3);
    const double exact = exact_kl(pair, time).value.value();
    const EntropyRateBounds bounds = entropy_rate_bounds(pair, time);
    ASSERT_LT(value(bounds.primal), kInf);
    expect_bound(value(bounds.primal), exact * (1.0 - 1e-7));
    expect_bound(value(bounds.dual), exact * (1.0 - 1e-7));
    expect_bound(value(bounds.pointwise_minimum), exact * (1.0 - 1e-7));
  }
}

TEST(OuBoundsProperty, HessianContractionHoldsForEveryCurvature) {
  for (std::uint64_t seed = 0; seed < testing::cases(2000); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomPair random(7'000'000 + seed);
    const Index d = random.integer(1, 5);
    const MatrixXd h = random.curvature(d, RandomPair::Shape::indefinite);
    const VectorXd values = spectrum_of(h).values;
    const Covariance metric = random.definite(d);
    const double proven = hessian_contraction(values.minCoeff(), values.maxCoeff(), metric);
    EXPECT_LE(proven, linear_contraction(h, metric) + 1e-10 * values.cwiseAbs().maxCoeff());
    const double eta = random.log_uniform(1e-3, 1.0);
    EXPECT_GE(hessian_step_lipschitz(values.minCoeff(), values.maxCoeff(), eta, metric),
              linear_step_lipschitz(h, eta, metric) * (1.0 - 1e-11));
  }
}

}  // namespace
}  // namespace sfumato
