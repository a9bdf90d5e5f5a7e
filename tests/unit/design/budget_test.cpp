#include "sfumato/design/budget.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>

namespace sfumato {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

TEST(Budget, Trace) {
  EXPECT_EQ(trace_budget(3, 2.0).total, 2.0);
  EXPECT_EQ(dimension(trace_budget(3, 2.0).weights), 3);
  EXPECT_THROW((void)trace_budget(3, 0.0), InvalidArgument);
  EXPECT_THROW((void)trace_budget(3, -1.0), InvalidArgument);
  EXPECT_THROW((void)trace_budget(3, std::nan("")), InvalidArgument);
}

TEST(Budget, DistanceWeighsByHalfTheInverseHessian) {
  const MatrixXd hessian = (MatrixXd(2, 2) << 2.0, 0.5, 0.5, 1.0).finished();
  const Budget budget = distance_budget(Dense{hessian}, 0.3);
  EXPECT_TRUE((2.0 * hessian * dense(budget.weights)).isIdentity(1e-14));
  EXPECT_EQ(budget.total, 0.3);
  EXPECT_TRUE(dense(distance_budget(Diagonal{hessian.diagonal()}, 1.0).weights)
                  .isApprox(Eigen::Vector2d(0.25, 0.5).asDiagonal().toDenseMatrix()));
  EXPECT_DOUBLE_EQ(diagonal_of(distance_budget(Isotropic{4.0, 2}, 1.0).weights)(1), 0.125);
  EXPECT_THROW((void)distance_budget(Dense{MatrixXd::Ones(2, 2)}, 1.0), InvalidArgument);
  EXPECT_THROW((void)distance_budget(Dense{hessian}, 0.0), InvalidArgument);
}

TEST(Budget, RefusesWeightsThatAreNotPositiveDefinite) {
  EXPECT_NO_THROW(require_budget({Diagonal{VectorXd::Ones(2)}, 1.0}));
  EXPECT_THROW(require_budget({Diagonal{Eigen::Vector2d(1.0, 0.0)}, 1.0}), InvalidArgument);
  EXPECT_THROW(require_budget({Diagonal{Eigen::Vector2d(1.0, -1.0)}, 1.0}), InvalidArgument);
  EXPECT_THROW(require_budget({Diagonal{Eigen::Vector2d(1.0, std::nan(""))}, 1.0}),
               InvalidArgument);
  EXPECT_THROW(require_budget({Dense{MatrixXd::Ones(2, 2)}, 1.0}), InvalidArgument);
  EXPECT_THROW(require_budget({Diagonal{VectorXd::Ones(2)}, 1e-320}), InvalidArgument);
  EXPECT_THROW(require_budget({Isotropic{1.0, 2}, 0.0}), InvalidArgument);
}

TEST(Budget, WeightedTraceAndInverseDiagonal) {
  const MatrixXd w = (MatrixXd(2, 2) << 2.0, 0.5, 0.5, 1.0).finished();
  const MatrixXd sigma = (MatrixXd(2, 2) << 1.0, -0.3, -0.3, 3.0).finished();
  EXPECT_DOUBLE_EQ(weighted_trace(Dense{w}, Dense{sigma}), (w * sigma).trace());
  EXPECT_DOUBLE_EQ(weighted_trace(Diagonal{w.diagonal()}, Dense{sigma}), 5.0);
  EXPECT_TRUE(inverse_diagonal(Dense{w}).isApprox(w.inverse().diagonal(), 1e-14));
}

}  // namespace
}  // namespace sfumato
