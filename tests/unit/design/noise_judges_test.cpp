#include "sfumato/design/noise_judges.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <tuple>

#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/design/stationary_quadratic.hpp"
#include "sfumato/divergence/ou_pair.hpp"

namespace sfumato {
namespace {

using Eigen::Matrix2d;
using Eigen::Vector2d;

OuPair shifted(const Matrix2d& curvature, const Matrix2d& other, const Vector2d& shift) {
  const GaussianDistribution start = point_distribution(Vector2d::Zero());
  const Vector2d at(1.0, 1.0);
  return {{curvature, curvature * at, Isotropic{1.0, 2}},
          start,
          {other, other * (at + shift), Isotropic{1.0, 2}},
          start};
}

IteratedDesign solved(const OuPair& pair, const DesignTask& task, double time) {
  Observer observer;
  return iterate_design([&](const Covariance& noise) { return judge_linear(pair, noise, time); },
                        task, {.max_rounds = 60, .tolerance = 1e-9}, observer);
}

// stationary_quadratic_design of tests/golden/golden.json, case 02; Spec §13.3.
TEST(JudgeLinear, LeadsToTheExactOptimumOfAQuadratic) {
  const Matrix2d curvature = Vector2d(100.0, 1.0).asDiagonal();
  const OuPair pair = shifted(curvature, curvature, {0.1, 0.1});
  const DesignTask task{.budget = distance_budget(Dense{curvature}, 0.5),
                        .form = DesignForm::diagonal};
  const IteratedDesign result = solved(pair, task, kInf);
  const StationaryQuadraticDesign best =
      stationary_quadratic_design(Vector2d(100.0, 1.0), Vector2d(0.1, 0.1), 0.5);
  EXPECT_NEAR(result.result().kl.value.value(), best.kl, 1e-6 * best.kl);
  EXPECT_NEAR(result.rounds.front().kl.value.value(), best.isotropic_kl, 1e-9);
  EXPECT_NEAR(diagonal_of(result.result().noise)(0), best.variances(0), 1e-3 * best.variances(0));
  EXPECT_EQ(result.result().kl.claim, Claim::exact);
}

/// Least KL over all diagonal noises of the trace, on a fine grid.
double least_on_grid(const OuPair& pair, double trace, double time) {
  double best = kInf;
  for (int i = 1; i < 1000; ++i) {
    const double first = trace * i / 1000.0;
    OuPair tried = pair;
    tried.p.noise = tried.q.noise = Diagonal{Vector2d(first, trace - first)};
    best = std::min(best, exact_kl(tried, time).value.value());
  }
  return best;
}

// The Hessians differ too, so that the differences depend on the noise (Spec §9.5).
TEST(JudgeLinear, LeadsToTheOptimumWhereHessiansDiffer) {
  Matrix2d curvature, other;
  curvature << 5.0, 0.5, 0.5, 1.0;
  other << 4.0, 0.2, 0.2, 1.1;
  const OuPair pair = shifted(curvature, other, {0.3, -0.1});
  for (const double time : {0.5, 3.0, kInf}) {
    const IteratedDesign result =
        solved(pair, {.budget = trace_budget(2, 1.0), .form = DesignForm::diagonal}, time);
    const double grid = least_on_grid(pair, 1.0, time);
    EXPECT_LE(result.result().kl.value.value(), grid * (1.0 + 1e-6)) << time;
    EXPECT_GE(result.result().kl.value.value(), grid * (1.0 - 1e-3)) << time;
    const IteratedDesign full =
        solved(pair, {.budget = trace_budget(2, 1.0), .form = DesignForm::full}, time);
    EXPECT_LE(full.result().kl.value.value(), result.result().kl.value.value() * (1.0 + 1e-6));
  }
}

// G = -Sigma grad Sigma against differences of the KL itself.
TEST(JudgeLinear, MomentsAreTheSlopeOfTheKl) {
  Matrix2d curvature, other, sigma, change;
  curvature << 5.0, 0.5, 0.5, 1.0;
  other << 4.0, 0.2, 0.2, 1.1;
  sigma << 1.0, 0.3, 0.3, 0.5;
  const OuPair pair = shifted(curvature, other, {0.3, -0.1});
  for (const double time : {0.2, 2.0, kInf}) {
    const NoiseJudgement at = judge_linear(pair, Dense{sigma}, time);
    const Matrix2d inverse = sigma.inverse();
    const Matrix2d slope = -inverse * dense(at.second_moments) * inverse;
    for (const auto& [a, b, c] :
         {std::tuple{1.0, 0.0, 0.0}, std::tuple{0.0, 1.0, 0.0}, std::tuple{0.3, 0.2, 1.0}}) {
      change << a, c, c, b;
      const double h = 1e-5;
      const double numeric =
          (judge_linear(pair, Dense{sigma + h * change}, time).kl.value.value() -
           judge_linear(pair, Dense{sigma - h * change}, time).kl.value.value()) /
          (2.0 * h);
      EXPECT_NEAR((slope * change).trace(), numeric, 1e-6 * std::abs(numeric) + 1e-9) << time;
    }
  }
}

TEST(JudgeLinear, RefusesTheStartAndSingularNoise) {
  const Matrix2d curvature = Matrix2d::Identity();
  const OuPair pair = shifted(curvature, curvature, {0.1, 0.1});
  EXPECT_THROW((void)judge_linear(pair, Isotropic{1.0, 2}, 0.0), InvalidArgument);
  EXPECT_THROW((void)judge_linear(pair, Isotropic{1.0, 2}, std::nan("")), InvalidArgument);
  EXPECT_THROW((void)judge_linear(pair, Diagonal{Vector2d(1.0, 0.0)}, 1.0), InvalidArgument);
}

// For equal Hessians the drifts differ by a constant s = A dm: the path bound is t |s|^2_{Sigma}/2.
TEST(JudgeBySimulation, EqualsTheClosedFormForConstantDifferences) {
  const Matrix2d curvature = Vector2d(3.0, 1.0).asDiagonal();
  SdePair pair = linear_pair(shifted(curvature, curvature, {0.1, 0.2}));
  Observer observer;
  SimulatedJudgeOptions options;
  options.simulation.paths = 10;
  options.rate = 1.0;
  const Vector2d s(0.3, 0.2);
  // Contractive with kappa = 1 beats the path bound after t = 1: s^2 (1 - e^-t) / (1 + e^-t).
  const double path = 0.5 * s.squaredNorm();
  const NoiseJudgement early = judge_by_simulation(pair, 0.1, options, observer);
  EXPECT_NEAR(early.kl.value.value(), std::tanh(0.05) * s.squaredNorm(), 1e-9);
  const NoiseJudgement late = judge_by_simulation(pair, 50.0, options, observer);
  EXPECT_NEAR(late.kl.value.value(), s.squaredNorm(), 1e-9);
  EXPECT_EQ(late.kl.claim, Claim::estimate);
  pair.q.diffusion.contraction = {};
  options.diagonal = true;
  const NoiseJudgement without = judge_by_simulation(pair, 1.0, options, observer);
  EXPECT_NEAR(without.kl.value.value(), path, 1e-12);
  EXPECT_NEAR(diagonal_of(without.second_moments)(0), 0.5 * 0.09, 1e-12);
}

TEST(JudgeBySimulation, RefusesWhatItCannotJudge) {
  const Matrix2d curvature = Vector2d(3.0, 1.0).asDiagonal();
  SdePair pair = linear_pair(shifted(curvature, curvature, {0.1, 0.2}));
  Observer observer;
  SimulatedJudgeOptions options;
  options.simulation.paths = 10;
  EXPECT_THROW((void)judge_by_simulation(pair, 0.0, options, observer), InvalidArgument);
  EXPECT_THROW((void)judge_by_simulation(pair, kInf, options, observer), InvalidArgument);
  options.step = 2.0;  // |1 - 3 * 2| > 1
  EXPECT_THROW((void)judge_by_simulation(pair, 1e6, options, observer), NumericalFailure);
  OuPair apart = shifted(curvature, curvature, {0.1, 0.2});
  apart.q.noise = Isotropic{2.0, 2};
  EXPECT_THROW((void)judge_by_simulation(linear_pair(apart), 1.0, options, observer),
               InvalidArgument);
}

}  // namespace
}  // namespace sfumato
