#include "sfumato/sde/problem/ridge_change.hpp"

#include <gtest/gtest.h>

#include <cmath>

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

// Nearly as many columns as rows: every row dominates, and the fit to the table still has the digits.
TEST(RidgeChange, HighLeverageFromTheTableIsThatOfANewFit) {
  const Eigen::Index rows = 21;
  MatrixXd features(rows, 20);
  for (Eigen::Index j = 0; j < features.cols(); ++j) {
    for (Eigen::Index i = 0; i < rows; ++i) {
      features(i, j) = std::sin(static_cast<double>(1 + i * i) * static_cast<double>(2 + j));
    }
  }
  const RidgeProblem problem(features, VectorXd::LinSpaced(rows, -1.0, 1.0), {});
  for (Eigen::Index row = 0; row < rows; ++row) {
    for (const auto& other :
         {std::optional<Record>(), std::optional(Record{VectorXd::Constant(20, 0.1), 0.5})}) {
      const auto change = row_change<long double>(problem, row, other);  // from the neighbour
      const auto pair = ridge_pair_stationary(problem, row, other, 2.0);
      ASSERT_TRUE(change && pair);
      ASSERT_EQ(change->ratio.size(), pair->ratio.size());
      for (Eigen::Index k = 0; k < pair->ratio.size(); ++k) {
        EXPECT_NEAR(pair->ratio(k) / static_cast<double>(change->ratio(k)), 1.0, 1e-8);
        EXPECT_NEAR(pair->shift(k) * pair->shift(k) /
                        static_cast<double>(change->shift(k) * change->shift(k)),
                    1.0, 1e-8);
      }
    }
  }
}

}  // namespace
}  // namespace sfumato
