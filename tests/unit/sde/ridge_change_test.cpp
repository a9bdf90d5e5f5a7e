#include "sfumato/sde/problem/ridge_change.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "sfumato/sde/precise/training.hpp"
#include "sfumato/sde/problem/ridge_fit.hpp"

namespace sfumato {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::Vector3d;
using Eigen::VectorXd;

RidgeProblem scalar_problem(const VectorXd& x, const VectorXd& y, const RidgeOptions& options) {
  return RidgeProblem(MatrixXd(x), y, options);
}

TEST(RidgeChange, ScalarRemovalByHand) {
  // A = 14, b = 1*1 + 2*3 + 3*2 = 13; without row 2 (x = 3, y = 2): A' = 5, b' = 7.
  const RidgeProblem problem = scalar_problem(Vector3d(1, 2, 3), Vector3d(1, 3, 2), {});
  const double variance = 0.7;
  const auto pair = ridge_pair_stationary(problem, 2, std::nullopt, variance);
  ASSERT_TRUE(pair.has_value());
  EXPECT_NEAR(pair->ratio(0), 14.0 / 5.0, 1e-14);
  EXPECT_NEAR(pair->excess(0), 9.0 / 5.0, 1e-14);
  const double gap = 7.0 / 5.0 - 13.0 / 14.0;
  EXPECT_NEAR(pair->shift(0), gap / std::sqrt(variance / 2.0 / 14.0), 1e-13);
  EXPECT_NEAR(minimiser_shift(problem, 2, std::nullopt).value()(0), gap, 1e-15);
}

TEST(RidgeChange, ScalarReplacementByHand) {
  // Row 2 becomes (1, -1): A' = 6, b' = 6.
  const RidgeProblem problem = scalar_problem(Vector3d(1, 2, 3), Vector3d(1, 3, 2), {});
  const Record other{VectorXd::Constant(1, 1.0), -1.0};
  const auto pair = ridge_pair_stationary(problem, 2, other, 2.0);
  ASSERT_EQ(pair->ratio.size(), 1);  // the two features are parallel
  EXPECT_NEAR(pair->ratio(0), 14.0 / 6.0, 1e-14);
  EXPECT_NEAR(std::abs(pair->shift(0)), (1.0 - 13.0 / 14.0) * std::sqrt(14.0), 1e-14);
  EXPECT_NEAR(minimiser_shift(problem, 2, other).value()(0), 1.0 - 13.0 / 14.0, 1e-15);
}

TEST(RidgeChange, TheMeanKeepsTheSizeOfTheTable) {
  // (14/3 + 1) w = 13/3 against (5/3 + 1) w = 7/3.
  const RidgeProblem problem =
      scalar_problem(Vector3d(1, 2, 3), Vector3d(1, 3, 2), {LossScale::mean, 1.0});
  EXPECT_NEAR(minimiser_shift(problem, 2, std::nullopt).value()(0), 7.0 / 8.0 - 13.0 / 17.0, 1e-15);
  const auto pair = ridge_pair_stationary(problem, 2, std::nullopt, 1.0);
  ASSERT_TRUE(pair.has_value());
  EXPECT_NEAR(pair->ratio(0), 17.0 / 8.0, 1e-14);
}

TEST(RidgeChange, ARowThatAloneDeterminesAParameterIsAnOutcome) {
  const MatrixXd x = (MatrixXd(3, 2) << 1, 0, 2, 0, 3, 1).finished();
  const RidgeProblem problem(x, Vector3d(1, 2, 4), {});
  EXPECT_FALSE(row_change(problem, 2, std::nullopt).has_value());
  EXPECT_FALSE(minimiser_shift(problem, 2, std::nullopt).has_value());
  EXPECT_FALSE(ridge_pair_stationary(problem, 2, std::nullopt, 1.0).has_value());
  EXPECT_TRUE(row_change(problem, 0, std::nullopt).has_value());
  // Replaced by another row that determines it there is an answer, and by one that does not, none.
  EXPECT_TRUE(row_change(problem, 2, Record{Vector2d(0, 5), 1.0}).has_value());
  EXPECT_FALSE(row_change(problem, 2, Record{Vector2d(5, 0), 1.0}).has_value());
  const RidgeProblem ridged(x, Vector3d(1, 2, 4), {LossScale::sum, 1e-6});
  EXPECT_TRUE(row_change(ridged, 2, std::nullopt).has_value());
}

TEST(RidgeChange, NearlyAllTheLeverageIsStillRight) {
  // One row fixes the second weight but for a ridge of 1e-9: h = 1 - 1e-9, ratio = 1 + 1e9.
  const MatrixXd x = (MatrixXd(3, 2) << 1, 0, 2, 0, 0, 1).finished();
  const RidgeProblem problem(x, Vector3d(1, 2, 4), {LossScale::sum, 1e-9});
  const auto pair = ridge_pair_stationary(problem, 2, std::nullopt, 2.0);
  ASSERT_TRUE(pair.has_value());
  EXPECT_NEAR(pair->ratio(0) / (1.0 + 1e9), 1.0, 1e-12);
  // w_2 moves from 4/(1 + 1e-9) to 0, in standard deviations 1/sqrt(1 + 1e-9).
  EXPECT_NEAR(pair->shift(0) / (-4.0 / std::sqrt(1.0 + 1e-9)), 1.0, 1e-12);
}

TEST(RidgeChange, RowsOfZerosAndEqualRecordsChangeNothing) {
  const MatrixXd x = (MatrixXd(4, 2) << 1, 1, 2, 0, 0, 0, 3, 1).finished();
  const RidgeProblem problem(x, (VectorXd(4) << 1, 2, 3, 4).finished(), {});
  EXPECT_EQ(row_change(problem, 2, std::nullopt)->excess.size(), 0);
  EXPECT_TRUE(minimiser_shift(problem, 2, std::nullopt)->isZero(0.0));
  EXPECT_EQ(row_change(problem, 2, Record{Vector2d(0, 0), 9.0})->excess.size(), 0);
  const auto same = ridge_pair_stationary(problem, 1, Record{Vector2d(2, 0), 2.0}, 1.0);
  EXPECT_TRUE((same->excess == 0.0).all());
  EXPECT_TRUE((same->shift == 0.0).all());
  // Only the target differs: the curvature does not.
  const auto target = ridge_pair_stationary(problem, 1, Record{Vector2d(2, 0), 3.0}, 1.0);
  EXPECT_TRUE((target->excess == 0.0).all());
  EXPECT_GT(target->shift.abs().sum(), 0.0);
}

TEST(RidgeChange, RefusesWhatItCannotUse) {
  const RidgeProblem problem = scalar_problem(Vector3d(1, 2, 3), Vector3d(1, 3, 2), {});
  EXPECT_THROW((void)ridge_pair_stationary(problem, 0, std::nullopt, 0.0), InvalidArgument);
  EXPECT_THROW((void)row_change(problem, 0, Record{Vector2d(1, 1), 0.0}), InvalidArgument);
  const RidgeProblem wide(MatrixXd::Ones(1, 2), VectorXd::Ones(1), {});
  EXPECT_THROW((void)row_change(wide, 0, std::nullopt), NumericalFailure);
  // One row: a ridge per row counts its empty place, and without a ridge nothing is left.
  const RidgeProblem one(MatrixXd::Ones(1, 1), VectorXd::Ones(1),
                         {LossScale::sum, 1.0, RidgeScale::times_rows});
  EXPECT_TRUE(row_change(one, 0, std::nullopt).has_value());
  const RidgeProblem bare(MatrixXd::Ones(1, 1), VectorXd::Ones(1), {});
  EXPECT_FALSE(row_change(bare, 0, std::nullopt).has_value());
}

/// Entries without pattern; with nearly as many columns as rows, every row has a leverage near 1.
MatrixXd nearly_square(Eigen::Index rows, Eigen::Index columns) {
  MatrixXd features(rows, columns);
  std::uint64_t state = 1;
  for (double& entry : features.reshaped()) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    entry = static_cast<double>(state >> 40U) / static_cast<double>(1U << 24U) - 0.5;
  }
  return features;
}

TEST(RidgeChange, TheRemainderOfARowHasTheDigitsOfOneMinusItsLeverage) {
  // w_2 is determined by the last row but for the ridge: 1 - h = ridge / (1 + ridge), r = -4 ridge / (1 + ridge).
  for (const double ridge : {1e-3, 1e-9, 1e-14}) {
    const MatrixXd x = (MatrixXd(3, 2) << 1, 0, 2, 0, 0, 1).finished();
    const RidgeProblem problem(x, Vector3d(1, 2, 4), {LossScale::sum, ridge});
    const auto left = problem.remainder<double>(2);
    const double error = 4e-16 / std::sqrt(ridge);  // of t, whose length is the root of 1 - h
    EXPECT_NEAR(left.complement * (1.0 + ridge) / ridge, 1.0, error);
    EXPECT_NEAR(left.residual * (1.0 + ridge) / (-4.0 * ridge), 1.0, error);
    EXPECT_NEAR(left.weights(1), 1.0 / (1.0 + ridge), 1e-15);
  }
}

TEST(RidgeChange, HighLeverageFromTheTableHasTheDigitsOfManyMore) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const double ridge : {0.0, 1e-6}) {
    const RidgeProblem problem(nearly_square(11, 10), VectorXd::LinSpaced(11, -1.0, 1.0),
                               {LossScale::mean, ridge});
    int nearly_one = 0;
    for (Eigen::Index row = 0; row < problem.rows(); ++row) {
      nearly_one += problem.leverage(row) > 0.99 ? 1 : 0;
      for (const auto& other :
           {std::optional<Record>(), std::optional(Record{VectorXd::Constant(10, 0.1), 0.5}),
            std::optional(Record{VectorXd::Zero(10), 1.0})}) {
        const auto pair = ridge_pair_stationary(problem, row, other, 1.0);
        const auto precise = compare_precisely(
            problem.precise(), training_of(problem.neighbour(row, other)), inf, std::nullopt);
        ASSERT_TRUE(pair && precise);
        EXPECT_LT(disagreement(*pair, *precise), 1e-12) << row;
        const auto shift = minimiser_shift(problem, row, other);
        const auto exact = minimiser_shift_precisely(problem.precise(),
                                                     training_of(problem.neighbour(row, other)));
        ASSERT_TRUE(shift && exact);
        EXPECT_LT((*shift - *exact).norm() / exact->norm(), 1e-9) << row;
      }
    }
    EXPECT_GT(nearly_one, 0);  // else nothing was tested
  }
}

}  // namespace
}  // namespace sfumato
