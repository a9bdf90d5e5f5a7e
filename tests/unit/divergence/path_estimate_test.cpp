// Spec §12.1 and, for the weights, §6.3. Comparisons are at 4 standard errors (6e-5 each) where the
// specification asks for that, else at 5 (5.7e-7).
#include "sfumato/divergence/path_estimate.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "sfumato/core/error.hpp"
#include "support/ou_line.hpp"

namespace sfumato {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::chain_path_kl;
using testing::LineDistribution;
using testing::OuLine;

/// The example of Spec §12.1.
constexpr OuLine kP{1.0, 0.0, 1.0}, kQ{1.5, 0.3, 1.0};
constexpr LineDistribution kStart{0.5, 0.0};
constexpr double kExact = 0.0791260509;

PathEstimateOptions options(std::uint64_t paths, unsigned threads = 0) {
  PathEstimateOptions result;
  result.simulation = {paths, {1, 0}, threads};
  return result;
}

Claimed<PathEstimate> estimate(const Diffusion& p, const Diffusion& q,
                               const GaussianDistribution& start, const TimeGrid& grid,
                               const PathEstimateOptions& how) {
  Observer silent;
  return path_estimate(p, q, start, grid, how, silent);
}

PathBoundEstimate example(double step, std::uint64_t paths) {
  const auto result = estimate(kP.diffusion(), kQ.diffusion(), kStart.distribution(), {{1.0}, step},
                               options(paths));
  EXPECT_EQ(result.claim, Claim::estimate);
  EXPECT_EQ(result.value.paths, paths);
  return result.value.bounds.at(0);
}

void expect_near(const MonteCarloMean& mean, double expected, double errors) {
  EXPECT_NEAR(mean.value, expected, errors * mean.standard_error);
}

TEST(PathEstimate, PrintedExample) {
  const PathBoundEstimate a = example(0.1, 100000);
  expect_near(a.at_step, 0.0777972, 4.0);
  expect_near(a.at_half_step, 0.0784999, 4.0);
  const PathBoundEstimate b = example(0.05, 100000);
  expect_near(b.at_half_step, 0.0788219, 4.0);
  expect_near(b.extrapolated, 0.0791439, 4.0);
  expect_near(b.extrapolated, kExact, 4.0);
  EXPECT_LT(b.at_step.standard_error, 3e-4);
  EXPECT_GT(b.at_step.standard_error, 1e-5);
  // Coupled chains: extrapolation costs little; independent ones would have sqrt(5) times the error.
  EXPECT_LT(b.extrapolated.standard_error, 1.3 * b.at_step.standard_error);
}

// The biases are -0.0029 and -0.0013 with standard errors of 1e-4: the quotient is 2.2 +- 0.2.
TEST(PathEstimate, BiasHalvesWithTheStep) {
  const PathBoundEstimate a = example(0.2, 400000);
  const double quotient = (a.at_step.value - kExact) / (a.at_half_step.value - kExact);
  EXPECT_GT(quotient, 1.5);
  EXPECT_LT(quotient, 3.2);
  EXPECT_LT(std::abs(a.extrapolated.value - kExact), 0.5 * std::abs(a.at_half_step.value - kExact));
}

TEST(PathEstimate, OneStepLengthAgreesWithTheChain) {
  PathEstimateOptions how = options(100000);
  how.halve = false;
  const auto result =
      estimate(kP.diffusion(), kQ.diffusion(), kStart.distribution(), {{0.5, 1.0}, 0.1}, how);
  ASSERT_EQ(result.value.bounds.size(), 2U);
  for (std::size_t t = 0; t < 2; ++t) {
    const PathBoundEstimate& bound = result.value.bounds[t];
    EXPECT_EQ(bound.time, t == 0 ? 0.5 : 1.0);
    expect_near(bound.at_step, chain_path_kl(kP, kQ, kStart, 0.1, t == 0 ? 5 : 10), 5.0);
    EXPECT_EQ(bound.extrapolated.value, bound.at_step.value);
  }
}

// Path bounds of Spec §12.3, two times from one simulation.
TEST(PathEstimate, DoubleWell) {
  const Noise noise = Covariance(Isotropic{0.64, 1});
  const Diffusion p{1, polynomial_drift({0.0, 1.0, 0.0, -1.0}), noise};
  const Diffusion q{1, polynomial_drift({0.2, 1.1, 0.0, -1.0}), noise};
  const LineDistribution start{0.3, 0.2};
  const auto result = estimate(p, q, start.distribution(), {{1.0, 10.0}, 0.02}, options(20000));
  expect_near(result.value.bounds[0].extrapolated, 0.0450775, 4.0);
  expect_near(result.value.bounds[1].extrapolated, 0.4159188, 4.0);
}

// Equal curvatures: b - b' is a number, so every path gives the same integral, (D/kappa) tanh(kappa t/2)
// up to the sum that replaces it.
TEST(PathEstimate, ContractiveWeights) {
  const OuLine p{1.0, 0.0, 2.0}, q{1.0, 0.6, 2.0};
  PathEstimateOptions how = options(1000);
  how.kappas = {0.0, 0.5, 1.0};
  const auto result =
      estimate(p.diffusion(), q.diffusion(), kStart.distribution(), {{1.0, 3.0}, 0.01}, how);
  ASSERT_EQ(result.value.bounds.size(), 6U);
  const double d = 0.36 / 2.0;
  for (const PathBoundEstimate& bound : result.value.bounds) {
    const double k = bound.kappa, t = bound.time;
    double sum = 0.0;
    const int steps = static_cast<int>(std::lround(t / 0.01));
    for (int i = 0; i < steps; ++i) {
      sum += 0.5 * 0.01 * d * 2.0 * std::exp(-k * (t - 0.01 * i)) / (1.0 + std::exp(-k * t));
    }
    EXPECT_NEAR(bound.at_step.value, sum, 1e-13) << k << " " << t;
    EXPECT_LT(bound.at_step.standard_error, 1e-13);
    const double limit = k == 0.0 ? 0.5 * d * t : d / k * std::tanh(0.5 * k * t);
    EXPECT_NEAR(bound.extrapolated.value, limit, 1e-5) << k << " " << t;
  }
}

TEST(PathEstimate, SameBitsForAnyNumberOfThreads) {
  const auto run = [&](unsigned threads) {
    PathEstimateOptions how = options(3000, threads);
    how.kappas = {0.0, 1.0};
    return estimate(kP.diffusion(), kQ.diffusion(), kStart.distribution(), {{0.4, 1.0}, 0.1}, how)
        .value;
  };
  const PathEstimate one = run(1), three = run(3);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(one.bounds[i].at_step.value, three.bounds[i].at_step.value);
    EXPECT_EQ(one.bounds[i].extrapolated.value, three.bounds[i].extrapolated.value);
    EXPECT_EQ(one.bounds[i].extrapolated.standard_error,
              three.bounds[i].extrapolated.standard_error);
  }
}

TEST(PathEstimate, StateDependentNoiseOfBoth) {
  // Constant in fact, so that the constant shape is the reference.
  const auto variances = [](double, const ConstPoints&, MutablePoints out) { out.setOnes(); };
  const auto sigma = [](double, const VectorXd&) -> MatrixXd { return MatrixXd::Identity(1, 1); };
  const double expected = example(0.1, 2000).extrapolated.value;
  for (const Noise& noise : {Noise(DiagonalNoise{variances, {}}), Noise(MatrixNoise{sigma, {}})}) {
    const auto result = estimate({1, kP.diffusion().drift, noise}, {1, kQ.diffusion().drift, noise},
                                 kStart.distribution(), {{1.0}, 0.1}, options(2000));
    EXPECT_NEAR(result.value.bounds[0].extrapolated.value, expected, 1e-13);
  }
}

TEST(PathEstimate, DivergingPathsMakeItInfiniteNeverNaN) {
  const Noise noise = Covariance(Isotropic{0.01, 1});
  const Diffusion p{1, polynomial_drift({0.0, 0.0, 0.0, -1.0}), noise};
  const Diffusion q{1, polynomial_drift({0.0, 1.0, 0.0, -1.0}), noise};
  const LineDistribution wide{0.0, 4.0};
  const auto result = estimate(p, q, wide.distribution(), {{0.0, 20.0}, 0.5}, options(500));
  EXPECT_EQ(result.value.bounds[0].diverged, 0U);
  EXPECT_EQ(result.value.bounds[0].at_step.value, 0.0);
  const PathBoundEstimate& bad = result.value.bounds[1];
  EXPECT_GT(bad.diverged, 10U);
  EXPECT_LT(bad.diverged, 490U);
  for (const MonteCarloMean& mean : {bad.at_step, bad.at_half_step, bad.extrapolated}) {
    EXPECT_EQ(mean.value, HUGE_VAL);
    EXPECT_EQ(mean.standard_error, HUGE_VAL);
  }
}

TEST(PathEstimate, StopsWithTheMeansSoFar) {
  struct Impatient : Observer {
    void progress(std::string_view, std::uint64_t done, std::uint64_t) override { seen = done; }
    [[nodiscard]] bool stop_requested() const override { return seen > 0; }
    std::atomic<std::uint64_t> seen{0};
  };
  Impatient observer;
  const auto result = path_estimate(kP.diffusion(), kQ.diffusion(), kStart.distribution(),
                                    {{1.0}, 0.1}, options(100000, 1), observer);
  EXPECT_GT(result.value.paths, 0U);
  EXPECT_LT(result.value.paths, 100000U);
  EXPECT_NEAR(result.value.bounds[0].at_step.value, 0.0777972, 0.05);
}

TEST(PathEstimate, StopsBetweenTheStepsOfOnePath) {
  struct Patience : Observer {
    [[nodiscard]] bool stop_requested() const override { return --left < 0; }
    mutable std::atomic<int> left{100};
  };
  Patience observer;
  const auto result = path_estimate(kP.diffusion(), kQ.diffusion(), kStart.distribution(),
                                    {{1e9}, 0.1}, options(3, 1), observer);
  EXPECT_EQ(result.value.paths, 0U);
  EXPECT_EQ(result.value.bounds[0].at_step.value, HUGE_VAL);
}

TEST(PathEstimate, Refusals) {
  const auto with = [&](const Diffusion& p, const Diffusion& q, std::vector<double> kappas,
                        std::uint64_t paths = 10) {
    PathEstimateOptions how = options(paths, 1);
    how.kappas = std::move(kappas);
    (void)estimate(p, q, kStart.distribution(), {{1.0}, 0.1}, how);
  };
  const Diffusion p = kP.diffusion(), q = kQ.diffusion();
  EXPECT_NO_THROW(with(p, q, {0.0}));
  EXPECT_THROW(with(p, OuLine{1.0, 0.0, 1.1}.diffusion(), {0.0}), InvalidArgument);
  EXPECT_THROW(with(p, q, {-0.1}), InvalidArgument);
  EXPECT_THROW(with(p, q, {HUGE_VAL}), InvalidArgument);
  EXPECT_THROW(with(p, q, {}), InvalidArgument);
  EXPECT_THROW(with(p, q, {0.0}, 0), InvalidArgument);
  const OuLine still{1.0, 0.0, 0.0};
  EXPECT_THROW(with(still.diffusion(), still.diffusion(), {0.0}), InvalidArgument);
  const Diffusion plane{2, linear_drift(MatrixXd::Identity(2, 2), VectorXd::Zero(2)),
                        Isotropic{1.0, 2}};
  EXPECT_THROW(with(p, plane, {0.0}), InvalidArgument);

  const auto field = [&](double value) {
    return Diffusion{1, p.drift,
                     DiagonalNoise{[value](double, const ConstPoints&, MutablePoints out) {
                                     out.setConstant(value);
                                   },
                                   {}}};
  };
  const auto matrix = [&](double value) {
    return Diffusion{1, p.drift,
                     MatrixNoise{[value](double, const VectorXd&) -> MatrixXd {
                                   return MatrixXd::Constant(1, 1, value);
                                 },
                                 {}}};
  };
  EXPECT_THROW(with(field(1.0), field(1.0), {0.5}), InvalidArgument);
  EXPECT_THROW(with(field(1.0), field(2.0), {0.0}), InvalidArgument);
  EXPECT_THROW(with(matrix(1.0), matrix(2.0), {0.0}), InvalidArgument);
  EXPECT_THROW(with(p, field(1.0), {0.0}), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
