#include "sfumato/quadratic/training_pair.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/risk/make_observation.hpp"

namespace sfumato {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// One parameter: rate, minimiser and noise of a training that starts at 0.
QuadraticTraining line(double rate, double point, double noise) {
  return {quadratic_from_point(MatrixXd::Constant(1, 1, rate), VectorXd::Constant(1, point)),
          Isotropic{noise, 1}, point_distribution(VectorXd::Zero(1))};
}

TEST(TrainingPair, AFlowByItsFormula) {
  const TrainingPair pair({line(1.0, 0.0, 1.0), line(1.0, 1.0, 1.0)});
  const Observation at = pair.at(0.7);
  EXPECT_NEAR(at.risk->kl(Direction::forward).value.value(), std::tanh(0.35), 1e-13);
  EXPECT_NEAR(at.mu->value, std::sqrt(2.0 * std::tanh(0.35)), 1e-13);
  EXPECT_FALSE(at.floor.value);  // neither curvature nor noise differ
  EXPECT_NEAR(pair.at(kInf).accuracy.d.error.value->value, 0.5, 1e-13);
  EXPECT_EQ(pair.rates().first, 1.0);
}

TEST(TrainingPair, AChainByItsRecursion) {
  const double eta = 0.25;
  const TrainingPair pair({line(1.0, 0.0, 0.5), line(1.0, 1.0, 0.5)}, eta);
  double gap = 0.0;
  double variance = 0.0;
  for (int i = 0; i < 3; ++i) {
    gap = (1.0 - eta) * gap + eta;
    variance = (1.0 - eta) * (1.0 - eta) * variance + 0.5;
  }
  EXPECT_NEAR(pair.at(3.0).risk->kl(Direction::reverse).value.value(), gap * gap / (2.0 * variance),
              1e-13);
}

TEST(TrainingPair, TheFloorIsTheLimitOfLargeNoise) {
  const TrainingPair pair({line(2.0, 0.5, 0.8), line(1.25, 0.2, 0.8)});
  const TrainingPair loud({line(2.0, 0.5, 0.8e10), line(1.25, 0.2, 0.8e10)});
  for (const double when : {0.3, kInf}) {
    const double floor = pair.at(when).floor.value->kl(Direction::forward).value.value();
    EXPECT_GT(floor, 1e-3);
    EXPECT_NEAR(loud.at(when).risk->kl(Direction::forward).value.value(), floor, 1e-8);
  }
  EXPECT_FALSE(pair.at(0.0).floor.value);
  EXPECT_FALSE(pair.at(0.0).floor.reason.empty());
}

TEST(TrainingPair, WithoutALongRunThereIsAReason) {
  const TrainingPair pair({line(0.0, 0.0, 1.0), line(1.0, 1.0, 1.0)});
  const Observation at = pair.at(kInf);
  EXPECT_FALSE(at.risk);
  EXPECT_NE(at.reason.find("D: "), std::string::npos);
}

TEST(ObserveRelease, IsGaussianDp) {
  const Observation at = observe_release({line(2.0, 0.0, 0.25), line(2.0, 1.0, 0.25)});
  EXPECT_NEAR(at.mu->value, 2.0, 1e-13);
  EXPECT_NEAR(at.accuracy.d.excess_loss.value->value, 0.25, 1e-13);
  QuadraticTraining flat = line(0.0, 0.0, 1.0);
  flat.loss = quadratic_from_pull(MatrixXd::Zero(1, 1), VectorXd::Ones(1));
  EXPECT_THROW((void)observe_release({flat, flat}), InvalidArgument);
}

TEST(TrainingDifferences, AreNamed) {
  QuadraticTraining other = line(1.0, 0.0, 2.0);
  other.start.mean(0) = 1.0;
  const TrainingDifferences found = differences_of_trainings({line(1.0, 0.0, 1.0), other});
  EXPECT_TRUE(found.noise && found.start_mean && found.any());
  EXPECT_FALSE(found.curvature || found.location || found.start_covariance);
  EXPECT_FALSE(differences_of_trainings({other, other}).any());
  EXPECT_EQ(joined_reasons("a", "a"), "D and D': a");
  EXPECT_EQ(joined_reasons("a", ""), "D: a");
}

}  // namespace
}  // namespace sfumato
