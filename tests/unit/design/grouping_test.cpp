#include "sfumato/design/grouping.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sfumato {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

DesignTask task(DesignForm form) {
  return {.budget = trace_budget(3, 1.0), .form = form, .groups = {}, .floor = {}};
}

TEST(Grouping, PoolsWeightsMomentsAndDifferences) {
  DesignTask grouped = task(DesignForm::grouped);
  grouped.budget.weights = Diagonal{Eigen::Vector3d(1.0, 2.0, 4.0)};
  grouped.groups = {1, 0, 1};
  grouped.regularisation = 0.5;
  grouped.floor = Eigen::Vector3d(0.01, 0.02, 0.03);
  const Grouping grouping(grouped);
  EXPECT_EQ(grouping.items().weights, Eigen::Vector2d(2.0, 5.0));
  EXPECT_EQ(grouping.items().constants, Eigen::Vector2d(0.5, 0.5 * 5.0 * 1.25));
  EXPECT_TRUE(grouping.items().floors.isApprox(Eigen::Vector2d(0.04, 0.15), 1e-15));
  RowMajorMatrix s(1, 3);
  s << 3.0, 5.0, 4.0;
  EXPECT_TRUE(grouping.pool_roots(s).isApprox(Eigen::RowVector2d(5.0, 5.0), 1e-15));
  EXPECT_TRUE(diagonal_of(grouping.covariance(Eigen::Vector2d(2.0, 10.0)))
                  .isApprox(Eigen::Vector3d(2.0, 1.0, 2.0), 1e-15));
  EXPECT_EQ(grouping.silent(Eigen::Vector2d(1.0, 0.0)), 2);
}

TEST(RequireTask, RefusesGroupsThatDoNotFit) {
  DesignTask grouped = task(DesignForm::grouped);
  EXPECT_THROW(require_task(grouped, 3), InvalidArgument);
  grouped.groups = {0, 2, 2};
  EXPECT_THROW(require_task(grouped, 3), InvalidArgument);
  grouped.groups = {0, -1, 1};
  EXPECT_THROW(require_task(grouped, 3), InvalidArgument);
  grouped.groups = {0, 3, 1};
  EXPECT_THROW(require_task(grouped, 3), InvalidArgument);
  grouped.groups = {0, 1, 1};
  EXPECT_NO_THROW(require_task(grouped, 3));
}

TEST(RequireTask, RefusesFloorsThatCannotBeMet) {
  DesignTask floored = task(DesignForm::diagonal);
  floored.floor = VectorXd::Constant(2, 0.1);
  EXPECT_THROW(require_task(floored, 3), InvalidArgument);
  floored.floor = VectorXd::Constant(3, 0.34);
  EXPECT_THROW(require_task(floored, 3), InvalidArgument);
  floored.floor = Eigen::Vector3d(0.1, 0.1, -0.1);
  EXPECT_THROW(require_task(floored, 3), InvalidArgument);
  floored.floor = Eigen::Vector3d(0.1, 0.1, 0.2);
  EXPECT_NO_THROW(require_task(floored, 3));
  floored.form = DesignForm::full;
  EXPECT_THROW(require_task(floored, 3), InvalidArgument);
  floored.floor.setConstant(0.1);
  EXPECT_NO_THROW(require_task(floored, 3));
  floored.floor.setConstant(0.4);
  EXPECT_THROW(require_task(floored, 3), InvalidArgument);
  floored.floor.setConstant(0.1);
  floored.budget.weights = Diagonal{Eigen::Vector3d(1.0, 2.0, 3.0)};
  EXPECT_THROW(require_task(floored, 3), InvalidArgument);
}

TEST(RequireTask, RefusesTheRest) {
  EXPECT_THROW(require_task(task(DesignForm::diagonal), 4), InvalidArgument);
  DesignTask bad = task(DesignForm::diagonal);
  bad.regularisation = -1.0;
  EXPECT_THROW(require_task(bad, 3), InvalidArgument);
  bad.regularisation = HUGE_VAL;
  EXPECT_THROW(require_task(bad, 3), InvalidArgument);
  DesignTask thin = task(DesignForm::low_rank);
  thin.budget.weights = Dense{MatrixXd::Identity(3, 3) + 0.1 * MatrixXd::Ones(3, 3)};
  EXPECT_THROW(require_task(thin, 3), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
