#include "sfumato/design/budget_for_risk.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/design/average_design.hpp"

namespace sfumato {
namespace {

using Eigen::VectorXd;

const Diagonal kMoments{Eigen::Vector3d(9.0, 4.0, 0.01)};

Design with_floor(double budget, double floor) {
  DesignTask task{.budget = trace_budget(3, budget)};
  if (floor > 0.0) task.floor = VectorXd::Constant(3, floor);
  return average_design(kMoments, task);
}

TEST(DesignForRisk, WithoutAFloorByScaling) {
  const Design design = design_for_risk([](double budget) { return with_floor(budget, 0.0); }, 2.0);
  EXPECT_DOUBLE_EQ(design.value, 2.0);
  EXPECT_DOUBLE_EQ(design.budget, 5.1 * 5.1 / 2.0);
}

TEST(DesignForRisk, WithAFloorBySearch) {
  for (const double risk : {0.01, 0.5, 2.0, 10.0}) {
    const Design design =
        design_for_risk([](double budget) { return with_floor(budget, 0.5); }, risk, 1.5);
    EXPECT_LE(design.value, risk);
    EXPECT_GE(design.value, risk * (1.0 - 1e-8));
    EXPECT_GE(diagonal_of(design.covariance).minCoeff(), 0.5);
  }
}

TEST(DesignForRisk, TheFloorAloneMayBeEnough) {
  const Design design =
      design_for_risk([](double budget) { return with_floor(budget, 0.5); }, 100.0, 1.5);
  EXPECT_DOUBLE_EQ(design.budget, 1.5);
  EXPECT_LE(design.value, 100.0);
}

TEST(DesignForRisk, Refuses) {
  const auto infinite = [](double budget) {
    Design design = with_floor(budget, 0.0);
    design.value = HUGE_VAL;
    return design;
  };
  EXPECT_THROW((void)design_for_risk(infinite, 1.0), NumericalFailure);
  EXPECT_THROW((void)design_for_risk(infinite, 1.0, 1.5), NumericalFailure);
  EXPECT_THROW((void)design_for_risk(infinite, 0.0), InvalidArgument);
}

}  // namespace
namespace {

const Diagonal kNoise{Eigen::Vector4d(1.0, 4.0, 0.0, 5.0)};

TEST(NoiseShares, LargestCoordinatesFirst) {
  const auto shares = largest_coordinates(kNoise, Isotropic{2.0, 4}, 2);
  ASSERT_EQ(shares.size(), 2U);
  EXPECT_EQ(shares[0].index, 3);
  EXPECT_DOUBLE_EQ(shares[0].share, 0.5);
  EXPECT_EQ(shares[1].index, 1);
  EXPECT_DOUBLE_EQ(shares[1].variance, 4.0);
  EXPECT_EQ(largest_coordinates(kNoise, Isotropic{2.0, 4}, 9).size(), 4U);
}

TEST(NoiseShares, Groups) {
  const auto shares = largest_groups(kNoise, Isotropic{1.0, 4}, {1, 1, 0, 0}, 5);
  ASSERT_EQ(shares.size(), 2U);
  EXPECT_EQ(shares[0].index, 0);  // ties go by index
  EXPECT_DOUBLE_EQ(shares[0].share, 0.5);
  EXPECT_DOUBLE_EQ(shares[1].variance, 2.5);
}

TEST(NoiseShares, DenseWeightsAddUpToOne) {
  const Eigen::MatrixXd w = (Eigen::MatrixXd(2, 2) << 2.0, 0.5, 0.5, 1.0).finished();
  const auto shares = largest_coordinates(Dense{w}, Dense{w}, 2);
  EXPECT_DOUBLE_EQ(shares[0].share + shares[1].share, 1.0);
  EXPECT_DOUBLE_EQ(shares[0].share, 4.25 / 5.5);
}

TEST(NoiseShares, Refuses) {
  EXPECT_THROW((void)largest_coordinates(kNoise, Isotropic{1.0, 3}, 1), InvalidArgument);
  EXPECT_THROW((void)largest_groups(kNoise, Isotropic{1.0, 4}, {0, 1}, 1), InvalidArgument);
  EXPECT_THROW((void)largest_groups(kNoise, Isotropic{1.0, 4}, {0, 1, -1, 0}, 1), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
