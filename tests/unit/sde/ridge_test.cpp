// Spec §1.7: sum and mean are explicit.
#include "sfumato/sde/problem/ridge.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>

#include "sfumato/sde/problem/ridge_fit.hpp"

namespace sfumato {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::Vector3d;
using Eigen::VectorXd;

MatrixXd table() { return (MatrixXd(3, 2) << 1, 2, 3, -1, 0.5, 4).finished(); }
VectorXd responses() { return Vector3d(1, 2, 3); }

TEST(RidgeProblem, SumAndMeanCarryTheirOwnRidge) {
  const MatrixXd gram = table().transpose() * table();
  const VectorXd moment = table().transpose() * responses();
  const MatrixXd eye = MatrixXd::Identity(2, 2);

  const RidgeProblem sum(table(), responses(), {LossScale::sum, 0.3, RidgeScale::fixed});
  EXPECT_TRUE(sum.loss().curvature.isApprox(gram + 0.3 * eye, 1e-15));
  EXPECT_TRUE(sum.loss().pull.isApprox(moment, 1e-15));
  EXPECT_TRUE(sum.minimiser().isApprox((gram + 0.3 * eye).inverse() * moment, 1e-13));

  const RidgeProblem scaled(table(), responses(), {LossScale::sum, 0.3, RidgeScale::times_rows});
  EXPECT_TRUE(scaled.loss().curvature.isApprox(gram + 0.9 * eye, 1e-15));

  const RidgeProblem mean(table(), responses(), {LossScale::mean, 0.3, RidgeScale::fixed});
  EXPECT_TRUE(mean.loss().curvature.isApprox(gram / 3 + 0.3 * eye, 1e-15));
  EXPECT_TRUE(mean.loss().pull.isApprox(moment / 3, 1e-15));
  EXPECT_TRUE(mean.minimiser().isApprox(scaled.minimiser(), 1e-13));
}

// N is public: the place of a removed row stays empty, in 1/N and in ridge N.
TEST(RidgeProblem, NeighboursKeepTheSizeOfTheTable) {
  const MatrixXd rest = table().bottomRows(2);
  const RidgeProblem mean(table(), responses(), {LossScale::mean, 0.3, RidgeScale::fixed});
  const QuadraticLoss without = mean.neighbour(0, std::nullopt);
  EXPECT_TRUE(without.curvature.isApprox(
      rest.transpose() * rest / 3 + 0.3 * MatrixXd::Identity(2, 2), 1e-14));
  EXPECT_TRUE(without.pull.isApprox(rest.transpose() * responses().tail(2) / 3, 1e-14));

  const RidgeProblem scaled(table(), responses(), {LossScale::sum, 0.3, RidgeScale::times_rows});
  EXPECT_TRUE(
      scaled.neighbour(0, std::nullopt)
          .curvature.isApprox(rest.transpose() * rest + 0.9 * MatrixXd::Identity(2, 2), 1e-14));

  MatrixXd changed = table();
  changed.row(0) << 7, 8;
  const QuadraticLoss replaced = mean.neighbour(0, Record{Vector2d(7, 8), 9.0});
  EXPECT_TRUE(replaced.curvature.isApprox(
      changed.transpose() * changed / 3 + 0.3 * MatrixXd::Identity(2, 2), 1e-14));
  EXPECT_TRUE(replaced.pull.isApprox(changed.transpose() * Vector3d(9, 2, 3) / 3, 1e-14));
}

TEST(RidgeProblem, ADominatingRowLeavesTheOthersTheirDigits) {
  // An update would compute 1e18 + 1 - 1e18.
  MatrixXd x = MatrixXd::Ones(3, 1);
  x(1, 0) = 1e9;
  const RidgeProblem problem(x, Vector3d(1, 2, 3), {});
  EXPECT_TRUE(problem.dominates(1));
  EXPECT_FALSE(problem.dominates(0));
  EXPECT_EQ(problem.neighbour(1, std::nullopt).curvature(0, 0), 2.0);
  EXPECT_EQ(problem.neighbour(1, std::nullopt).pull(0), 4.0);
  EXPECT_EQ(problem.neighbour(1, Record{VectorXd::Constant(1, 2.0), 5.0}).curvature(0, 0), 6.0);
}

TEST(RidgeProblem, LeveragesSumToTheTraceOfTheFit) {
  const RidgeProblem problem(table(), responses(), {});
  EXPECT_NEAR(problem.leverage(0) + problem.leverage(1) + problem.leverage(2), 2.0, 1e-14);
  const RidgeProblem wide(table().transpose(), Vector2d(1, 2), {});  // singular: two rows, p = 3
  EXPECT_NEAR(wide.leverage(0), 1.0, 1e-8);
  EXPECT_TRUE(wide.dominates(0));
}

TEST(RidgeProblem, SingularTablesHaveALossButNoMinimiser) {
  const RidgeProblem wide(table().transpose(), Vector2d(1, 2), {});
  EXPECT_EQ(wide.loss().curvature.rows(), 3);
  try {
    (void)wide.minimiser();
    FAIL();
  } catch (const NumericalFailure& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("smallest eigenvalue"), std::string::npos) << what;
    EXPECT_NE(what.find("ridge"), std::string::npos) << what;
  }
  EXPECT_THROW((void)wide.reference(), NumericalFailure);
  MatrixXd empty_column = table();
  empty_column.col(1).setZero();
  EXPECT_THROW((void)RidgeProblem(empty_column, responses(), {}).minimiser(), NumericalFailure);
  EXPECT_NO_THROW(
      (void)RidgeProblem(empty_column, responses(), {LossScale::sum, 1e-3}).minimiser());
}

TEST(RidgeProblem, UnitsOfAFeatureDoNotMakeItSingular) {
  MatrixXd x = table();
  x.col(0) *= 1e9;
  const RidgeProblem problem(x, responses(), {});
  const RidgeProblem plain(table(), responses(), {});
  EXPECT_NEAR(problem.minimiser()(0) * 1e9, plain.minimiser()(0), 1e-13);
}

TEST(RidgeProblem, RefusesWrongInput) {
  MatrixXd x = table();
  x(2, 1) = NAN;
  try {
    RidgeProblem(x, responses(), {});
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("entry 2 of row 3 of the features"), std::string::npos)
        << error.what();
  }
  EXPECT_THROW(RidgeProblem(table(), Vector2d(1, 2), {}), InvalidArgument);
  EXPECT_THROW(RidgeProblem(table(), Vector3d(1, NAN, 2), {}), InvalidArgument);
  EXPECT_THROW(RidgeProblem(MatrixXd(0, 2), VectorXd(0), {}), InvalidArgument);
  EXPECT_THROW(RidgeProblem(table(), responses(), {LossScale::sum, -1.0}), InvalidArgument);
  EXPECT_THROW(RidgeProblem(table(), responses(), {LossScale::sum, INFINITY}), InvalidArgument);
  EXPECT_THROW(RidgeProblem(table(), responses(), {LossScale::mean, 1.0, RidgeScale::times_rows}),
               InvalidArgument);
  const RidgeProblem problem(table(), responses(), {});
  EXPECT_THROW((void)problem.neighbour(0, Record{VectorXd::Zero(3), 0.0}), InvalidArgument);
  const RidgeProblem one(table().topRows(1), responses().head(1), {LossScale::mean, 1.0});
  EXPECT_EQ(one.neighbour(0, std::nullopt).curvature, MatrixXd(MatrixXd::Identity(2, 2)));
  const RidgeProblem one_sum(table().topRows(1), responses().head(1), {LossScale::sum, 1.0});
  EXPECT_EQ(one_sum.neighbour(0, std::nullopt).curvature, MatrixXd(MatrixXd::Identity(2, 2)));
}

}  // namespace
}  // namespace sfumato
