// Spec §14, item 6: chains against their exact distributions, their chain rule and the flow they follow.
#include "sfumato/divergence/linear_chain.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sfumato/divergence/chain_gap.hpp"
#include "sfumato/divergence/contractive_bound.hpp"
#include "sfumato/divergence/gaussian_kl.hpp"
#include "sfumato/divergence/noisy_gd_gdp.hpp"
#include "sfumato/divergence/step_kl.hpp"
#include "sfumato/sde/contraction.hpp"
#include "support/chain_sum.hpp"
#include "support/random_pair.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::RandomPair;
using NoiseOf = RandomPair::NoiseOf;
using StartOf = RandomPair::StartOf;

constexpr int kCases = 1500;

double value(const KlBound& bound) { return bound.kl.value.value(); }

void expect_bound(double bound, double exact) { EXPECT_GE(bound, exact * (1.0 - 1e-10) - 1e-13); }

/// The distribution one step later, written down from the definition.
GaussianDistribution stepped(const LinearChain& chain, const GaussianDistribution& distribution) {
  const Index d = distribution.mean.size();
  const MatrixXd map = MatrixXd::Identity(d, d) - chain.learning_rate * chain.curvature;
  return {map * distribution.mean + chain.learning_rate * chain.pull,
          Dense{map * dense(distribution.covariance) * map.transpose() + dense(chain.step_noise)}};
}

/// d_j of Spec §8.3, one step after the other.
std::vector<double> gaps_by_steps(const LinearChainPair& pair, int steps) {
  std::vector<double> gaps;
  GaussianDistribution distribution = pair.start_p;
  const double eta = pair.p.learning_rate;
  const MatrixXd difference = eta * (pair.p.curvature - pair.q.curvature);
  const VectorXd offset = eta * (pair.p.pull - pair.q.pull);
  for (int j = 0; j < steps; ++j) {
    const VectorXd gap = difference * distribution.mean - offset;
    const MatrixXd weighted = solve(pair.q.step_noise, difference);
    const double spread =
        (weighted * dense(distribution.covariance)).cwiseProduct(difference).sum();
    gaps.push_back(
        std::sqrt(gap.dot(solve(pair.q.step_noise, gap).col(0)) + std::max(spread, 0.0)));
    distribution = stepped(pair.p, distribution);
  }
  return gaps;
}

StartOf start_of(std::uint64_t seed) {
  return seed % 3 == 0 ? StartOf::different : StartOf::common;
}

TEST(LinearChainProperty, DistributionAgreesWithStepByStep) {
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomPair random(seed);
    const LinearChainPair pair = random.chain(random.integer(1, 5), StartOf::common);
    const int steps = random.integer(1, 60);
    GaussianDistribution expected = pair.start_p;
    for (int j = 0; j < steps; ++j) expected = stepped(pair.p, expected);
    const GaussianDistribution got = ChainDistribution(pair.p, pair.start_p).at(steps);
    const MatrixXd want = dense(expected.covariance);
    EXPECT_LE((got.mean - expected.mean).norm(), 1e-11 * (1.0 + expected.mean.norm()));
    EXPECT_LE((dense(got.covariance) - want).norm(), 1e-11 * want.norm());
  }
}

TEST(LinearChainProperty, NoBoundBelowTheExactKl) {
  int contractive = 0;
  int compared = 0;
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomPair random(1'000'000 + seed);
    const LinearChainPair forward = random.chain(random.integer(1, 5), start_of(seed));
    const double steps = std::floor(random.log_uniform(1.0, 300.0));
    for (const LinearChainPair& pair : {forward, swapped(forward)}) {
      const Claimed<Nats> claimed = exact_kl(pair, steps);
      // A chain that runs away is numerically singular: the exact value then says so, and is none.
      if (!claimed.assumptions.empty()) continue;
      const double exact = claimed.value.value();
      const double path = value(path_kl(pair, steps));
      const ChainContractiveBound best = best_contractive_bound(pair, steps);
      expect_bound(path, exact);
      expect_bound(value(best.bound), exact);
      EXPECT_LE(value(best.bound), path * (1.0 + 1e-10));
      const double c = std::min(best.lipschitz, 1.0);
      contractive += c < 1.0 ? 1 : 0;
      ++compared;
      for (const double share : {0.0, random.uniform(0.0, 1.0)}) {
        expect_bound(value(chain_contractive_bound(pair, c + share * (1.0 - c), steps)), exact);
      }
      // c = 1 is the chain rule.
      EXPECT_NEAR(value(chain_contractive_bound(pair, 1.0, steps)), path, 1e-11 * path);
    }
  }
  EXPECT_GT(contractive, kCases / 2);
  EXPECT_GT(compared, 2 * kCases - 50);
}

TEST(LinearChainProperty, DoublingAgreesWithTheSumOfSteps) {
  int admissible = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomPair random(2'000'000 + seed);
    const LinearChainPair pair = random.chain(random.integer(1, 4), StartOf::common);
    const int steps = random.integer(1, 200);
    const std::vector<double> gaps = gaps_by_steps(pair, steps);
    const double c = random.uniform(0.0, 1.0);
    const double first = testing::chain_sum(gaps, c);
    EXPECT_NEAR(value(chain_contractive_bound(pair, c, steps)), first, 1e-9 * first);
    if (const auto second = chain_bound_second_form(gaps, c)) {
      EXPECT_LE(*second, first * (1.0 + 1e-12));
      ++admissible;
    }
  }
  EXPECT_GT(admissible, 100);
}

// Any d_j and c, not only those of linear chains: Cauchy-Schwarz.
TEST(LinearChainProperty, SecondFormIsNeverAboveTheFirst) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomPair random(3'000'000 + seed);
    std::vector<double> gaps(static_cast<std::size_t>(random.integer(1, 30)));
    for (double& gap : gaps) gap = random.log_uniform(0.1, 10.0);
    if (seed % 2 == 0) std::sort(gaps.rbegin(), gaps.rend());  // falling gaps are admissible
    const double c = seed % 5 == 0 ? 1.0 : random.uniform(0.0, 1.0);
    const auto second = chain_bound_second_form(gaps, c);
    if (second) {
      EXPECT_LE(*second, testing::chain_sum(gaps, c) * (1.0 + 1e-12));
    }
  }
}

// Worst case of the second form: one dimension, maps c x and c x + g_j with given gaps. Here the
// exact KL is ( sum c^{k-1-j} g_j )^2 / (2 sum c^{2(k-1-j)}): attained whenever it is admissible.
TEST(LinearChainProperty, GapsOfOneSign) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomPair random(4'000'000 + seed);
    const double c = random.uniform(0.05, 1.0);
    const int steps = random.integer(1, 40);
    std::vector<double> gaps;
    double mean = 0.0;
    double variance = 0.0;
    for (int j = 0; j < steps; ++j) {
      gaps.push_back(random.log_uniform(0.1, 10.0));
      mean = c * mean + gaps.back();
      variance = c * c * variance + 1.0;
    }
    const double exact = 0.5 * mean * mean / variance;
    EXPECT_GE(testing::chain_sum(gaps, c), exact * (1.0 - 1e-12));
    if (const auto second = chain_bound_second_form(gaps, c)) {
      EXPECT_NEAR(*second, exact, 1e-12 * exact);
    }
    const std::vector<double> constant(gaps.size(), gaps.front());
    double sum = 0.0;
    for (int j = 0; j < steps; ++j) sum = c * sum + gaps.front();
    const double mu = noisy_gd_gdp(gaps.front(), c, steps).mu.value;
    EXPECT_NEAR(0.5 * mu * mu, 0.5 * sum * sum / variance, 1e-11 * mu * mu);
  }
}

TEST(LinearChainProperty, PathKlWithUnequalNoiseIsTheSumOfStepKls) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomPair random(5'000'000 + seed);
    const Index d = random.integer(1, 4);
    LinearChainPair pair = random.chain(d, StartOf::common);
    pair.q.step_noise = random.definite(d);
    const int steps = random.integer(1, 50);
    double expected = 0.0;
    const VectorXd origin = VectorXd::Zero(d);
    const double scale =
        gaussian_kl(whiten({origin, pair.p.step_noise}, {origin, pair.q.step_noise})).value.value();
    for (const double gap : gaps_by_steps(pair, steps)) expected += scale + 0.5 * gap * gap;
    EXPECT_NEAR(value(path_kl(pair, steps)), expected, 1e-9 * expected);
    expect_bound(expected, exact_kl(pair, steps).value.value());
  }
}

TEST(LinearChainProperty, SmallStepsApproachTheFlow) {
  int checked = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomPair random(6'000'000 + seed);
    const OuPair flow = random.pair(random.integer(1, 4), NoiseOf::equal, StartOf::common);
    const double time = random.log_uniform(0.1, 3.0);
    const double exact = exact_kl(flow, time).value.value();
    const double path = value(path_bound(flow, time));
    const auto errors = [&](double steps) {
      const double eta = time / steps;
      const Covariance noise = scaled(flow.p.noise, eta);
      const LinearChainPair chain{{flow.p.curvature, flow.p.pull, eta, noise},
                                  flow.start_p,
                                  {flow.q.curvature, flow.q.pull, eta, noise},
                                  flow.start_q};
      return std::pair{exact_kl(chain, steps).value.value() - exact,
                       value(path_kl(chain, steps)) - path};
    };
    const auto [kl_coarse, path_coarse] = errors(1 << 14);
    const auto [kl_fine, path_fine] = errors(1 << 15);
    if (std::abs(kl_coarse) > 1e-7 * exact) {
      EXPECT_NEAR(kl_fine / kl_coarse, 0.5, 0.02);
      ++checked;
    }
    if (std::abs(path_coarse) > 1e-7 * path) {
      EXPECT_NEAR(path_fine / path_coarse, 0.5, 0.02);
    }
  }
  EXPECT_GT(checked, 100);
}

TEST(LinearChainProperty, ManyStepsApproachTheLimit) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomPair random(7'000'000 + seed);
    const Index d = random.integer(1, 4);
    LinearChainPair pair = random.chain(d, StartOf::common);
    pair.p.curvature += 0.5 * MatrixXd::Identity(d, d);
    pair.p.learning_rate = pair.q.learning_rate = std::min(pair.p.learning_rate, 0.5);
    const double c =
        linear_step_lipschitz(pair.q.curvature, pair.q.learning_rate, pair.p.step_noise);
    if (c > 0.9999) continue;
    const double limit = value(chain_contractive_bound(pair, c, HUGE_VAL));
    EXPECT_NEAR(value(chain_contractive_bound(pair, c, 1e9)), limit, 1e-9 * limit);
    expect_bound(limit, exact_kl(pair, HUGE_VAL).value.value());
    expect_bound(value(best_contractive_bound(pair, 1e9).bound), exact_kl(pair, 1e9).value.value());
  }
}

// The bound of the floored scheme over random gradients (Spec §8.6).
TEST(LinearChainProperty, FlooredStepsStayBelowTheirBound) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomPair random(8'000'000 + seed);
    const Index d = random.integer(1, 6);
    const VectorXd g = random.log_uniform(1e-3, 10.0) * random.vector(d);
    const VectorXd g_prime = g + random.log_uniform(1e-3, 10.0) * random.vector(d);
    const double floor = random.log_uniform(1e-3, 1.0);
    const double eta = random.log_uniform(1e-3, 1.0);
    const double variance = random.log_uniform(1e-3, 10.0);
    const double bound = floored_step_kl_bound(eta, variance, floor, (g - g_prime).cwiseAbs());
    EXPECT_LE(floored_step_kl(eta, variance, floor, g, g_prime), bound * (1.0 + 1e-12));
  }
}

}  // namespace
}  // namespace sfumato
