// Spec §27.13, 27.16: nonlinear pairs against Fokker-Planck grids, in both directions: every bound above.
#include "sfumato/divergence/matched_pair.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "sfumato/core/infinity.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/divergence/fokker_planck_pair.hpp"
#include "sfumato/divergence/matched_simulation.hpp"
#include "sfumato/divergence/ou_pair.hpp"
#include "sfumato/sde/family/formula.hpp"
#include "support/cases.hpp"
#include "support/random_pair.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::VectorXd;
using testing::RandomPair;

/// Smooth drifts that pull back, bent by sines, cosines and tanh.
SdePair random_nonlinear(RandomPair& random, Index d) {
  std::vector<std::string> drift, drift_prime;
  const std::vector<std::string> names = coordinate_names(d);
  const auto number = [&](double low, double high) {
    return fmt::format("{:.3f}", random.uniform(low, high));
  };
  for (Index i = 0; i < d; ++i) {
    const std::string& x = names[static_cast<std::size_t>(i)];
    const std::string& other = names[static_cast<std::size_t>(d - 1 - i)];
    const std::string shared = fmt::format("-{} {} + {} sin({} {} + {}) + {} tanh({})",
                                           number(0.5, 3.0), x, number(0.0, 0.8), number(0.3, 2.0),
                                           other, number(-2.0, 2.0), number(-0.3, 0.3), x);
    drift.push_back(shared);
    drift_prime.push_back(
        shared + fmt::format(" + {} + {} cos({})", number(-0.3, 0.3), number(-0.2, 0.2), x));
    if (random.integer(0, 3) == 0)
      drift_prime.back() += fmt::format(" - {} {}", number(0.05, 0.3), x);
  }
  const double noise = random.uniform(0.4, 1.2);
  const auto variances = [&](double low, double high) {
    VectorXd v(d);
    for (double& entry : v) entry = noise * random.uniform(low, high);
    return Covariance(Diagonal{v});
  };
  const GaussianDistribution start{0.5 * random.vector(d), Isotropic{random.uniform(0.1, 0.6), d}};
  if (d == 1 && random.integer(0, 2) == 0) {  // double wells that differ linearly, with equal noise
    const std::string wells = fmt::format("{} x - {} x^3", number(-0.5, 1.5), number(0.3, 1.5));
    const Covariance variance = variances(1.0, 1.0);
    return {{formula_diffusion(names, {wells}, variance), start},
            {formula_diffusion(
                 names, {wells + fmt::format(" + {} x + {}", number(-0.3, 0.3), number(-0.3, 0.3))},
                 variance),
             start}};
  }
  return {{formula_diffusion(names, drift, variances(0.9, 1.1)), start},
          {formula_diffusion(names, drift_prime, variances(0.8, 1.3)), start}};
}

struct Ratios {
  double least = kInf;
  int bounded = 0;
};

void compare(RandomPair& random, Index d, Ratios& proven, Ratios& simulated) {
  const SdePair forward = random_nonlinear(random, d);
  const double time = random.log_uniform(0.2, 3.0);
  FokkerPlanckOptions options;
  if (d == 2) options.cells_per_axis = 120;
  const PairSolution grid = solve_fokker_planck_pair(forward.p, forward.q, {time}, options);
  const SdePair reverse{forward.q, forward.p};
  Observer observer;
  for (const bool is_forward : {true, false}) {
    const SdePair& pair = is_forward ? forward : reverse;
    const GridEstimate& kl =
        is_forward ? grid.rows.front().forward.kl : grid.rows.front().reverse.kl;
    const KlBound bound = matched_constants_bound(pair, time);
    const double truth = kl.value - 2.0 * kl.error;
    if (bound.reason.empty()) {
      ++proven.bounded;
      EXPECT_GE(bound.kl.value.value(), truth)
          << (is_forward ? "forward" : "reverse") << ", t = " << time;
      proven.least = std::min(proven.least, bound.kl.value.value() / truth);
    }
    const std::vector<MetricRate> metrics =
        contraction_metrics(pair.q.diffusion, *constant_noise(pair.q.diffusion));
    if (metrics.empty()) continue;
    MatchedSimulationOptions size;
    size.paths = 500;
    size.pilot_paths = 200;
    size.steps = 60;
    const MatchedEstimate found = matched_process_estimate(
        pair.p, pair.q.diffusion, metrics[0].kappa, metrics[0].metric, time, size, observer);
    ++simulated.bounded;
    // Steps bias it downwards by a few percent, chance by a few standard errors.
    EXPECT_GE(found.at_half_step.value + 5.0 * found.at_half_step.standard_error, 0.93 * truth);
    if (bound.reason.empty()) {
      EXPECT_LE(found.at_half_step.value,
                bound.kl.value.value() * 1.05 + 5.0 * found.at_half_step.standard_error);
    }
  }
}

TEST(MatchedPairProperty, AboveTheGridInOneDimension) {
  Ratios proven, simulated;
  for (std::uint64_t seed = 0; seed < testing::cases(40, 4); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomPair random(seed);
    compare(random, 1, proven, simulated);
  }
  EXPECT_GT(proven.bounded, 0);
  EXPECT_GE(proven.least, 1.0);
  EXPECT_GT(simulated.bounded, 0);
}

TEST(MatchedPairProperty, AboveTheGridInTwoDimensions) {
  Ratios proven, simulated;
  for (std::uint64_t seed = 0; seed < testing::cases(12, 12); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomPair random(500 + seed);
    compare(random, 2, proven, simulated);
  }
  EXPECT_GT(proven.bounded, 0);
  EXPECT_GE(proven.least, 1.0);
}

// The box of a Jacobian and the range of e against values at random points.
TEST(MatchedPairProperty, DerivedConstantsHoldAtRandomPoints) {
  for (std::uint64_t seed = 0; seed < testing::cases(300); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomPair random(1000 + seed);
    const Index d = random.integer(1, 3);
    const SdePair pair = random_nonlinear(random, d);
    const DriftFormulas& b = *pair.p.diffusion.formulas;
    const DriftFormulas& b_prime = *pair.q.diffusion.formulas;
    const Covariance noise = random.definite(d);
    const Eigen::MatrixXd metric = solve(noise, Eigen::MatrixXd::Identity(d, d));
    const Eigen::MatrixXd gap = 0.1 * random.matrix(d, d);
    const Eigen::MatrixXd symmetric = 0.5 * (gap + gap.transpose());
    const Interval range = rate_range(b, b_prime, 0.5 * (metric + metric.transpose()), symmetric);
    const double kappa = pair.p.diffusion.contraction(noise);
    for (int i = 0; i < 50; ++i) {
      const VectorXd x = 3.0 * random.vector(d),
                     y = x + random.log_uniform(1e-3, 3.0) * random.vector(d);
      const Eigen::MatrixXd slope = b.jacobian_at(0.0, x);
      EXPECT_TRUE((slope.array() >= pair.p.diffusion.jacobian->lower.array() - 1e-9).all());
      EXPECT_TRUE((slope.array() <= pair.p.diffusion.jacobian->upper.array() + 1e-9).all());
      const VectorXd a = b.at(0.0, x) - b_prime.at(0.0, x);
      const double e = a.dot(metric * a) -
                       2.0 * (symmetric * metric * (slope - b_prime.jacobian_at(0.0, x))).trace();
      EXPECT_LE(e, range.upper + 1e-8 * (1.0 + std::abs(e)));
      EXPECT_GE(e, range.lower - 1e-8 * (1.0 + std::abs(e)));
      const VectorXd step = x - y;
      const double pull = (b.at(0.0, x) - b.at(0.0, y)).dot(metric * step);
      EXPECT_LE(pull, -kappa * step.dot(metric * step) + 1e-9 * step.dot(metric * step));
    }
  }
}

/// A linear drift as formulas that are nonlinear by 1e-13, so that nothing knows that it is linear.
std::vector<std::string> nearly_linear(const OuProcess& process) {
  const Index d = process.pull.size();
  const std::vector<std::string> names = coordinate_names(d);
  std::vector<std::string> drift;
  for (Index i = 0; i < d; ++i) {
    std::string formula = fmt::format("({:.17g}) + 1e-13*sin({})", process.pull(i),
                                      names[static_cast<std::size_t>(i)]);
    for (Index j = 0; j < d; ++j) {
      formula += fmt::format(" - ({:.17g})*{}", process.curvature(i, j),
                             names[static_cast<std::size_t>(j)]);
    }
    drift.push_back(formula);
  }
  return drift;
}

/// Of any condition number to 1e8.
Covariance stretched(RandomPair& random, Index d) {
  VectorXd values(d);
  const double spread = random.uniform(0.0, 4.0);
  for (double& v : values) v = std::pow(10.0, random.uniform(-spread, spread));
  const Eigen::MatrixXd q = random.rotation(d);
  const Eigen::MatrixXd m = q * values.asDiagonal() * q.transpose();
  return Dense{0.5 * (m + m.transpose())};
}

// Spec §27.6 against exact values: drifts that differ in curvature, by a constant, not at all; noises that are nearly
// singular, nearly equal, equal; starts of any condition and points; stiff drifts; short and long times.
TEST(MatchedPairProperty, ConstantsNeverBelowTheExactKlOfLinearDrifts) {
  int bounded = 0;
  const auto count = testing::cases(300, 6);
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomPair random(1'600'000 + seed);
    const Index d = random.integer(1, 3);
    OuPair pair = random.pair(d, RandomPair::NoiseOf::unequal, RandomPair::StartOf::common);
    const int kind = random.integer(0, 3);
    if (kind > 0) pair.q.curvature = pair.p.curvature;
    if (kind > 2) pair.q.pull = pair.p.pull;
    if (random.integer(0, 3) == 0) {
      const double stiff = random.log_uniform(10.0, 1e6);
      for (OuProcess* process : {&pair.p, &pair.q}) process->curvature *= stiff;
    }
    pair.p.noise = stretched(random, d);
    switch (random.integer(0, 3)) {
      case 0: pair.q.noise = stretched(random, d); break;
      case 1: pair.q.noise = scaled(pair.p.noise, 1.0 + 1e-12); break;
      case 2: pair.q.noise = pair.p.noise; break;
      default: pair.q.noise = scaled(pair.p.noise, random.uniform(0.5, 2.0)); break;
    }
    pair.start_p.covariance = pair.start_q.covariance = stretched(random, d);
    if (random.integer(0, 3) == 0)
      pair.start_p = pair.start_q = point_distribution(random.vector(d));
    const double time = random.log_uniform(1e-6, 1e2);
    const std::vector<std::string> names = coordinate_names(d);
    const SdePair forward{
        {formula_diffusion(names, nearly_linear(pair.p), pair.p.noise), pair.start_p},
        {formula_diffusion(names, nearly_linear(pair.q), pair.q.noise), pair.start_q}};
    const SdePair reverse{forward.q, forward.p};
    for (const auto& [formulas, linear] :
         {std::pair{&forward, pair}, std::pair{&reverse, swapped(pair)}}) {
      try {
        const double exact = exact_kl(linear, time).value.value();
        const KlBound bound = matched_constants_bound(*formulas, time);
        if (!bound.reason.empty()) continue;
        ++bounded;
        EXPECT_GE(bound.kl.value.value(), exact * (1.0 - 1e-6) - 1e-9)
            << "t = " << time << ", d = " << d;
      } catch (const NumericalFailure&) {  // nothing trustworthy can be said, and it is said
      }
    }
  }
  EXPECT_GT(bounded, static_cast<int>(count) / 2);
}

}  // namespace
}  // namespace sfumato
