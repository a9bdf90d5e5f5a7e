#include "sfumato/divergence/matched_simulation.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/core/error.hpp"
#include "sfumato/divergence/ou_pair.hpp"
#include "sfumato/sde/family/formula.hpp"

namespace sfumato {
namespace {

using Eigen::VectorXd;

MatchedEstimate simulate(const char* drift, const char* drift_prime, double noise,
                         double noise_prime, const GaussianDistribution& start, double kappa,
                         double time) {
  const Covariance first = Isotropic{noise, 1}, second = Isotropic{noise_prime, 1};
  MatchedSimulationOptions options;
  options.paths = 400;
  options.pilot_paths = 100;
  Observer observer;
  return matched_process_estimate({formula_diffusion({"x"}, {drift}, first), start},
                                  formula_diffusion({"x"}, {drift_prime}, second), kappa, second,
                                  time, options, observer);
}

const GaussianDistribution kStart{VectorXd::Zero(1), Isotropic{0.1, 1}};

TEST(MatchedSimulation, StepsFollowTheDriftWhereThePathsAre) {
  const MatchedEstimate slow = simulate("-x", "-x + 0.1", 1.0, 1.1, kStart, 1.0, 1.0);
  EXPECT_TRUE(slow.has_value());
  EXPECT_EQ(slow.steps, 40U);
  const MatchedEstimate fast = simulate("-9 x", "-9 x + 0.1", 1.0, 1.1, kStart, 9.0, 1.0);
  EXPECT_TRUE(fast.has_value());
  EXPECT_GE(2.0 * static_cast<double>(fast.steps) * 0.02, 9.0 * 0.99);  // (h/2) L <= 0.02
  // At the end it is above the truth but for the bias of the steps and chance.
  EXPECT_GT(fast.at_half_step.value, 0.0);
}

TEST(MatchedSimulation, StiffAndExplodingDriftsAreRefused) {
  const GaussianDistribution far{VectorXd::Constant(1, 10.0), Isotropic{0.1, 1}};
  const MatchedEstimate stiff = simulate("-x^3", "-x^3 + 0.1", 0.5, 0.6, far, 0.0, 10.0);
  EXPECT_FALSE(stiff.has_value());
  EXPECT_TRUE(stiff.steps_needed > 2000.0 || stiff.diverged > 0);
  const MatchedEstimate explodes = simulate("x^3", "x^3 + 0.1", 0.5, 0.6, far, -1.0, 10.0);
  EXPECT_FALSE(explodes.has_value());
  EXPECT_GT(explodes.diverged, 0U);
}

TEST(MatchedSimulation, LongExpansionFromAPointIsARefusalOrANumber) {
  // e^{kappa t} and its square leave the numbers below -354.
  const MatchedEstimate found =
      simulate("-x", "9 x", 1.0, 1.1, point_distribution(VectorXd::Zero(1)), -9.0, 45.0);
  EXPECT_TRUE(found.steps_needed > 0.0 || std::isfinite(found.at_half_step.value));
  const MatchedEstimate dense = simulate("-x", "9 x", 1.0, 1.1, kStart, -9.0, 45.0);
  EXPECT_TRUE(dense.has_value());
  EXPECT_TRUE(std::isfinite(dense.at_half_step.value));
}

TEST(MatchedSimulation, JumpsNeedEqualNoise) {
  const auto run = [&](double noise_prime) {
    const Covariance first = Isotropic{1.0, 1}, second = Isotropic{noise_prime, 1};
    Observer observer;
    MatchedSimulationOptions options;
    options.paths = 100;
    options.pilot_paths = 50;
    return matched_process_estimate({potential_diffusion({"x"}, "0.5*x^2 - abs(x)", first), kStart},
                                    formula_diffusion({"x"}, {"-x"}, second), 1.0, second, 1.0,
                                    options, observer);
  };
  EXPECT_THROW((void)run(1.1), InvalidArgument);
  EXPECT_NEAR(run(1.0).at_half_step.value, std::tanh(0.5), 0.02);  // |b - b'| = 1
}

}  // namespace
}  // namespace sfumato
