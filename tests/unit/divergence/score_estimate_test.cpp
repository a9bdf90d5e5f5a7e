// Spec §6.1 and §12.2: bounds for different noises with scores from particles.
#include "sfumato/divergence/score_estimate.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "sfumato/core/error.hpp"
#include "support/ou_line.hpp"

namespace sfumato {
namespace {

using testing::LineDistribution;
using testing::OuLine;

/// The pair of the golden cases ou_entropy_rate-02 and ou_pair_bounds_unequal_sigma-02, t = 0.5.
constexpr OuLine kP{1.0, 0.0, 1.0}, kQ{1.0, 0.0, 1.5};
constexpr LineDistribution kStart{0.0, 0.3};

LineDistribution after(const OuLine& x, double h, int steps) {
  LineDistribution distribution = kStart;
  for (int k = 0; k < steps; ++k) distribution = step(x, distribution, h);
  return distribution;
}

std::vector<ScoreBoundEstimate> estimate(const TimeGrid& grid, const ScoreEstimateOptions& options,
                                         const OuLine& p = kP, const OuLine& q = kQ,
                                         const LineDistribution& start = kStart) {
  Observer silent;
  const auto result = score_estimate(p.diffusion(), start.distribution(), q.diffusion(),
                                     start.distribution(), grid, options, silent);
  EXPECT_EQ(result.claim, Claim::estimate);
  return result.value;
}

// The specification's OU test: the primal rate of the Euler chains with ten steps of 0.05, the last as
// long as the others; 1,000 particles gave 0.03927 by one score and 0.03811 by the product of two.
// Five standard errors, and 2 / particles of it for the bias that scores keep: false alarm 6e-7.
TEST(ScoreEstimate, SpecificationsOuTest) {
  const double v = after(kP, 0.05, 10).variance, u = after(kQ, 0.05, 10).variance;
  const double target = 0.5 * std::pow(0.25 / u, 2) * v;
  EXPECT_NEAR(target, 0.0377647, 1e-7);
  ScoreEstimateOptions options;
  options.last_step = 0.05;
  const ScoreBoundEstimate found = estimate({{0.5}, 0.05}, options).at(0);
  EXPECT_NEAR(found.rate.value, target, 5.0 * found.rate.standard_error + 0.004 * target);
  EXPECT_LT(found.rate.standard_error, 0.03 * target);
  EXPECT_NEAR(found.naive.value, 0.0393, 5.0 * found.naive.standard_error);
  EXPECT_GT(found.naive.value, found.rate.value);
}

TEST(ScoreEstimate, DualForm) {
  const double target = 0.5 * 0.0625 / after(kP, 0.05, 10).variance / 1.5;
  ScoreEstimateOptions options;
  options.form = ScoreForm::dual;
  options.last_step = 0.05;
  const ScoreBoundEstimate found = estimate({{0.5}, 0.05}, options).at(0);
  EXPECT_NEAR(found.rate.value, target, 5.0 * found.rate.standard_error + 0.004 * target);
}

// Golden integrals 0.0287844 and 0.0281594 of the diffusions; the steps and the trapezoid cost 4 %.
TEST(ScoreEstimate, IntegratedBounds) {
  for (const ScoreForm form : {ScoreForm::primal, ScoreForm::dual}) {
    ScoreEstimateOptions options;
    options.form = form;
    options.particles = 500;
    options.points = 500;
    const auto found = estimate({{0.1, 0.2, 0.3, 0.4, 0.5}, 0.01}, options);
    const double golden = form == ScoreForm::primal ? 0.028784442926380324 : 0.02815941549770084;
    EXPECT_NEAR(found.back().integral.value, golden,
                5.0 * found.back().integral.standard_error + 0.04 * golden);
    EXPECT_LT(found.back().integral.standard_error, 0.05 * golden);
  }
}

// Sigma(x) = 1 + x^2 / 4 and div Sigma = x / 2 against the same noise with another drift: the scores
// cancel and Phi = b - b' = 1/2, whatever the particles.
TEST(ScoreEstimate, EqualStateDependentNoisesNeedNoScore) {
  const auto variances = [](double, const ConstPoints& at, MutablePoints out) {
    out = 1.0 + 0.25 * at.square();
  };
  const auto divergence = [](double, const ConstPoints& at, MutablePoints out) { out = 0.5 * at; };
  const Noise noise = DiagonalNoise{variances, divergence};
  const Diffusion p{1, polynomial_drift({0.5, -1.0}), noise};
  const Diffusion q{1, polynomial_drift({0.0, -1.0}), noise};
  ScoreEstimateOptions options;
  options.particles = 50;
  options.points = 50;
  options.repetitions = 2;
  Observer silent;
  const auto found = score_estimate(p, kStart.distribution(), q, kStart.distribution(),
                                    {{0.3}, 0.1}, options, silent)
                         .value.at(0);
  // |Phi|^2 / (2 Sigma) with Sigma >= 1, and both ways of computing it agree.
  EXPECT_LT(found.rate.value, 0.125);
  EXPECT_GT(found.rate.value, 0.09);
  EXPECT_NEAR(found.rate.value, found.naive.value, 1e-12);
}

TEST(ScoreEstimate, DivergenceOfTheNoiseEnters) {
  // p has Sigma(x) = 1 + x^2 / 4 with drift x / 4 - x, q Sigma = 1 with drift -x. At time 0,
  // Phi = -(1/2)(x^2 / 4) score - (h' - h), h = x / 4 - x - x / 4, so Phi = -(x^2 / 8) score.
  const auto variances = [](double, const ConstPoints& at, MutablePoints out) {
    out = 1.0 + 0.25 * at.square();
  };
  const auto divergence = [](double, const ConstPoints& at, MutablePoints out) { out = 0.5 * at; };
  const auto sigma = [](double, const Eigen::VectorXd& x) -> Eigen::MatrixXd {
    return Eigen::MatrixXd::Constant(1, 1, 1.0 + 0.25 * x(0) * x(0));
  };
  const auto matrix_divergence = [](double, const Eigen::VectorXd& x) -> Eigen::VectorXd {
    return 0.5 * x;
  };
  double expected = 0.0, weights = 0.0;
  for (double x = -8.0; x <= 8.0; x += 0.001) {
    const double weight = std::exp(-0.5 * x * x / 0.3);
    const double phi = x * x / 8.0 * x / 0.3;
    expected += weight * 0.5 * phi * phi / (1.0 + 0.25 * x * x);
    weights += weight;
  }
  expected /= weights;
  ScoreEstimateOptions options;
  options.points = 20000;
  options.particles = 10;
  options.repetitions = 8;
  Observer silent;
  for (const Noise& noise : {Noise(DiagonalNoise{variances, divergence}),
                             Noise(MatrixNoise{sigma, matrix_divergence})}) {
    const Diffusion p{1, polynomial_drift({0.0, -0.75}), noise};
    const Diffusion q{1, polynomial_drift({0.0, -1.0}), Isotropic{1.0, 1}};
    const auto found = score_estimate(p, kStart.distribution(), q, kStart.distribution(),
                                      {{0.0}, 0.1}, options, silent)
                           .value[0];
    EXPECT_NEAR(found.rate.value, expected, 5.0 * found.rate.standard_error);
    EXPECT_LT(found.rate.standard_error, 0.05 * expected);
  }
}

TEST(ScoreEstimate, PointStartMakesTheIntegralInfinite) {
  ScoreEstimateOptions options;
  options.particles = 100;
  options.points = 100;
  options.repetitions = 2;
  const auto found = estimate({{0.5}, 0.1}, options, kP, kQ, {0.2, 0.0});
  EXPECT_EQ(found[0].integral.value, HUGE_VAL);
  EXPECT_TRUE(std::isfinite(found[0].rate.value));
}

TEST(ScoreEstimate, ThreadsChangeNothing) {
  ScoreEstimateOptions options;
  options.particles = 100;
  options.points = 100;
  options.repetitions = 4;
  options.threads = 1;
  const double one = estimate({{0.5}, 0.1}, options)[0].rate.value;
  options.threads = 3;
  EXPECT_EQ(estimate({{0.5}, 0.1}, options)[0].rate.value, one);
}

TEST(ScoreEstimate, StopsBetweenTheStepsOfARepetition) {
  struct Patience : Observer {
    [[nodiscard]] bool stop_requested() const override { return --left < 0; }
    mutable std::atomic<int> left{100};
  };
  Patience observer;
  ScoreEstimateOptions options;
  options.threads = 1;
  const auto found = score_estimate(kP.diffusion(), kStart.distribution(), kQ.diffusion(),
                                    kStart.distribution(), {{1e9}, 0.1}, options, observer)
                         .value;
  EXPECT_EQ(found[0].rate.value, HUGE_VAL);
}

TEST(ScoreEstimate, Refusals) {
  ScoreEstimateOptions options;
  Observer silent;
  const auto in = [&](Eigen::Index d, const ScoreEstimateOptions& how) {
    const Diffusion p{d, linear_drift(Eigen::MatrixXd::Identity(d, d), Eigen::VectorXd::Zero(d)),
                      Isotropic{1.0, d}};
    const GaussianDistribution start{Eigen::VectorXd::Zero(d), Isotropic{1.0, d}};
    (void)score_estimate(p, start, p, start, {{0.2}, 0.1}, how, silent);
  };
  EXPECT_THROW(in(4, options), InvalidArgument);
  try {
    in(4, options);
  } catch (const InvalidArgument& refusal) {
    EXPECT_NE(std::string(refusal.what()).find("4 dimensions"), std::string::npos);
  }
  options.repetitions = 1;
  EXPECT_THROW(in(1, options), InvalidArgument);
  options.repetitions = 2;
  options.particles = 0;
  EXPECT_THROW(in(1, options), InvalidArgument);
  options.particles = 10;
  options.last_step = 0.0;
  EXPECT_THROW(in(1, options), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
