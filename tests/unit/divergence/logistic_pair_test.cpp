#include "sfumato/divergence/logistic_pair.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/classification_pair.hpp"
#include "sfumato/divergence/fokker_planck_pair.hpp"
#include "support/random_pair.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::RandomPair;

ClassificationProblem problem_of(RandomPair& random, Index rows, Index d, double ridge) {
  MatrixXd features = random.matrix(rows, d);
  VectorXd labels(rows);
  for (Index i = 0; i < rows; ++i) labels(i) = i % 2 == 0 ? 1.0 : 0.0;
  RidgeOptions options;
  options.ridge = ridge;
  return ClassificationProblem::logistic(std::move(features), labels, options);
}

// Different tables, noises, removals and replacements, both directions, against densities on a grid.
TEST(LogisticConstants, AboveTheGridInOneDimension) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomPair random(77'000 + seed);
    const ClassificationFit fit(problem_of(random, 5, 1, random.log_uniform(0.1, 2.0)));
    Neighbour neighbour{static_cast<Index>(seed % 5), std::nullopt};
    if (seed % 2 == 1) neighbour.replacement = Record{random.vector(1), 1.0};
    const double noise = random.log_uniform(0.3, 3.0);
    const Covariance first = Isotropic{noise, 1},
                     second = Isotropic{noise * (seed == 0 ? 1.0 : random.uniform(0.7, 1.4)), 1};
    const GaussianDistribution start{0.3 * random.vector(1),
                                     Isotropic{random.uniform(0.1, 0.5), 1}};
    const SdePair pair = unequal_classification_pair(fit, neighbour, first, second, start);
    const double time = random.log_uniform(0.2, 3.0);
    const PairSolution grid = solve_fokker_planck_pair(pair.p, pair.q, {time});
    const auto [forward, reverse] = pair.model_bounds(time);
    for (const auto& [bound, kl] : {std::pair{&forward, &grid.rows.front().forward.kl},
                                    std::pair{&reverse, &grid.rows.front().reverse.kl}}) {
      ASSERT_EQ(bound->reason, "");
      EXPECT_GE(bound->kl.value.value(), kl->value - 2.0 * kl->error);
      EXPECT_LE(bound->kl.value.value(), 3.0);  // the residual of a row is taken as 1
    }
  }
}

// (delta^2/kappa) tanh(kappa t/2) with delta = |x|/sigma and kappa the ridge.
TEST(LogisticConstants, EqualNoiseFromAPointIsTheClosedForm) {
  RandomPair random(5);
  const ClassificationFit fit(problem_of(random, 12, 3, 0.7));
  const Covariance noise = Isotropic{2.0, 3};
  const GaussianDistribution point = point_distribution(VectorXd::Zero(3));
  const SdePair pair = unequal_classification_pair(fit, {4, std::nullopt}, noise, noise, point);
  const double gap = fit.problem().features().row(4).norm() / std::sqrt(2.0);
  for (const double t : {0.1, 2.0, kInf}) {
    const double right = gap * gap / 0.7 * (t < kInf ? std::tanh(0.35 * t) : 1.0);
    EXPECT_NEAR(pair.model_bounds(t)[0].kl.value.value(), right, 1e-4 * right);
  }
}

TEST(LogisticConstants, AnisotropicNoiseInManyDimensions) {
  RandomPair random(6);
  const Index d = 8;
  const ClassificationFit fit(problem_of(random, 40, d, 2.0));
  const Covariance first = random.definite(d), second = scaled(first, 1.1);
  for (const GaussianDistribution& start :
       {point_distribution(VectorXd::Zero(d)),
        GaussianDistribution{VectorXd::Zero(d), Isotropic{0.2, d}}}) {
    const SdePair pair = unequal_classification_pair(fit, {3, std::nullopt}, first, second, start);
    double before = 0.0;
    for (const double t : {0.1, 1.0, kInf}) {
      const KlBound bound = pair.model_bounds(t)[0];
      ASSERT_EQ(bound.reason, "");
      EXPECT_GT(bound.kl.value.value(), before * 0.5);
      before = bound.kl.value.value();
    }
  }
}

TEST(LogisticConstants, Refusals) {
  RandomPair random(7);
  const ClassificationFit fit(problem_of(random, 6, 2, 1.0));
  const GaussianDistribution start = point_distribution(VectorXd::Zero(2));
  const SdePair singular = unequal_classification_pair(fit, {0, std::nullopt}, Isotropic{1.0, 2},
                                                       Diagonal{Eigen::Vector2d(1.0, 0.0)}, start);
  EXPECT_NE(singular.model_bounds(1.0)[0].reason, "");
}

}  // namespace
}  // namespace sfumato
