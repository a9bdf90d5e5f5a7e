#include "sfumato/rows/release_cost.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "sfumato/sde/problem/classification_fit.hpp"

namespace sfumato {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Sample {
  MatrixXd features;
  VectorXd target;
};

Sample random_sample(unsigned seed, bool labels) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal;
  Sample sample{MatrixXd(60, 3), VectorXd(60)};
  for (Eigen::Index row = 0; row < 60; ++row) {
    sample.features.row(row) << normal(engine), 2.0 * normal(engine), 1.0;
    const double score = sample.features(row, 0) - 0.5 * sample.features(row, 1) + normal(engine);
    sample.target(row) = labels ? (score > 0.0 ? 1.0 : 0.0) : score;
  }
  return sample;
}

Covariance some_noise(double size) {
  MatrixXd matrix(3, 3);
  matrix << 2.0, 0.5, 0.1, 0.5, 1.0, -0.2, 0.1, -0.2, 0.7;
  return Dense{size * matrix};
}

/// Weights drawn from the distribution.
template <class Each>
void draw(const GaussianDistribution& distribution, int draws, Each each) {
  std::mt19937_64 engine(99);
  std::normal_distribution<double> normal;
  const MatrixXd factor = root(distribution.covariance);
  for (int i = 0; i < draws; ++i) {
    VectorXd z(factor.cols());
    for (double& value : z) value = normal(engine);
    each(VectorXd(distribution.mean + factor * z));
  }
}

// Means over draws differ from expectations by more than five standard errors once in 1.7 million; the seed is fixed.
void expect_mean(double sum, double squares, int draws, double expected) {
  const double mean = sum / draws;
  const double error = std::sqrt(std::max(0.0, squares / draws - mean * mean) / draws);
  EXPECT_NEAR(mean, expected, 5.0 * error + 1e-12);
}

TEST(ReleaseCost, RidgeAgainstDraws) {
  const Sample sample = random_sample(1, false);
  const RidgeProblem problem(sample.features, sample.target, {LossScale::sum, 2.0});
  const GaussianDistribution start = point_distribution(VectorXd::Zero(3));
  for (const Release& release :
       {Release(MinimiserRelease{some_noise(0.1)}), Release(MinimiserRelease{Isotropic{0.3, 3}}),
        Release(FlowRelease{kInfinity, some_noise(1.0), start}),
        Release(FlowRelease{0.01, some_noise(5.0), start}),
        Release(ChainRelease{0.002, 30.0, Isotropic{4.0, 3}, start})}) {
    const GaussianDistribution distribution = released_distribution(problem, release);
    const Cost<RegressionQuality> cost = cost_of(distribution, sample.features, sample.target);
    const double total = (sample.target.array() - sample.target.mean()).square().sum();
    double sum = 0.0, squares = 0.0;
    constexpr int kDraws = 4000;
    draw(distribution, kDraws, [&](const VectorXd& w) {
      const double r2 = 1.0 - (sample.features * w - sample.target).squaredNorm() / total;
      sum += r2;
      squares += r2 * r2;
    });
    expect_mean(sum, squares, kDraws, cost.expected.r_squared);
    EXPECT_LT(cost.expected.r_squared, cost.without_noise.r_squared);
    EXPECT_NEAR(cost.expected.r_squared,
                1.0 - 60.0 * cost.expected.rmse * cost.expected.rmse / total, 1e-12);
  }
}

TEST(ReleaseCost, TheExcessOfAStationaryFlowIsKnown) {
  // E f - min f = tr(Sigma)/4 (Spec §5) for the loss with its ridge; without one it is the squared error's.
  const Sample sample = random_sample(2, false);
  const RidgeProblem problem(sample.features, sample.target, {});
  const GaussianDistribution distribution = released_distribution(
      problem, FlowRelease{kInfinity, some_noise(1.0), point_distribution(VectorXd::Zero(3))});
  const Cost<RegressionQuality> cost = cost_of(distribution, sample.features, sample.target);
  const double excess = 60.0 * (cost.expected.rmse * cost.expected.rmse -
                                cost.without_noise.rmse * cost.without_noise.rmse);
  EXPECT_NEAR(0.5 * excess, trace(some_noise(1.0)) / 4.0, 1e-10);
}

TEST(ReleaseCost, LogisticAgainstDraws) {
  const Sample sample = random_sample(3, true);
  const ClassificationFit fit(
      ClassificationProblem::logistic(sample.features, sample.target, {LossScale::sum, 1.0}));
  for (const double size : {0.01, 1.0, 30.0, 3000.0}) {
    const GaussianDistribution distribution = released_distribution(
        fit.problem(), fit.convexity().minimiser, MinimiserRelease{some_noise(size)});
    const Cost<ClassificationQuality> cost =
        label_cost_of(distribution, sample.features, sample.target);
    constexpr int kDraws = 4000;
    double right = 0.0, right_squares = 0.0, loss = 0.0, loss_squares = 0.0;
    draw(distribution, kDraws, [&](const VectorXd& w) {
      const VectorXd scores = sample.features * w;
      double hits = 0.0, sum = 0.0;
      for (Eigen::Index row = 0; row < scores.size(); ++row) {
        const double margin = sample.target(row) == 1.0 ? scores(row) : -scores(row);
        hits += margin > 0.0 ? 1.0 : 0.0;
        sum +=
            margin > 0.0 ? std::log1p(std::exp(-margin)) : -margin + std::log1p(std::exp(margin));
      }
      hits /= 60.0;
      sum /= 60.0;
      right += hits;
      right_squares += hits * hits;
      loss += sum;
      loss_squares += sum * sum;
    });
    expect_mean(right, right_squares, kDraws, cost.expected.accuracy);
    expect_mean(loss, loss_squares, kDraws, cost.expected.log_loss);
    EXPECT_LT(cost.without_noise.log_loss, cost.expected.log_loss);
  }
}

TEST(ReleaseCost, TheExpectedLossIsContinuousWhereItsFormulaChanges) {
  const MatrixXd one = MatrixXd::Ones(1, 1);
  const VectorXd label = VectorXd::Ones(1);
  for (const double mean : {-30.0, -1.0, 0.0, 2.0, 50.0}) {
    const auto loss = [&](double deviation) {
      const GaussianDistribution distribution{VectorXd::Constant(1, mean),
                                              Isotropic{deviation * deviation, 1}};
      return label_cost_of(distribution, one, label).expected.log_loss;
    };
    EXPECT_NEAR(loss(19.9999), loss(20.0001), 5e-4) << mean;
    EXPECT_NEAR(loss(0.0), loss(1e-6), 1e-9) << mean;
  }
}

TEST(ReleaseCost, ATargetThatDoesNotVaryHasNoRSquared) {
  const MatrixXd features = MatrixXd::Ones(4, 1);
  const GaussianDistribution distribution{VectorXd::Ones(1), Isotropic{1.0, 1}};
  const Cost<RegressionQuality> cost = cost_of(distribution, features, VectorXd::Ones(4));
  EXPECT_TRUE(std::isnan(cost.expected.r_squared));
  EXPECT_EQ(cost.expected.rmse, 1.0);
}

}  // namespace
}  // namespace sfumato
