#include "sfumato/fit/minimiser.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <cmath>

namespace sfumato {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

struct Problem {
  RowMajor z = RowMajor::Random(200, 3);
  VectorXd target = VectorXd::Random(200);
};

TEST(Minimiser, OfSquaresFarFromTheThresholdIsRidgeRegression) {
  const Problem made;
  const BoundedLoss loss{FitModel::ridge, 1e6, 10.0, 0.1, 200.0, 200.0};
  Observer nobody;
  const VectorXd u = minimise(made.z, made.target, loss, 1e-9 * loss.gradient_bound(), nobody);
  const MatrixXd hessian = made.z.transpose() * made.z / 200.0 + 0.1 * MatrixXd::Identity(3, 3);
  const VectorXd expected = hessian.llt().solve(made.z.transpose() * made.target / 200.0);
  EXPECT_LT((u - expected).norm(), 1e-2 * expected.norm());
}

TEST(Minimiser, HasNoGradientLeft) {
  Problem made;
  for (double& y : made.target) y = y > 0.0 ? 1.0 : 0.0;
  const BoundedLoss loss{FitModel::logistic, 1.0, 0.7, 0.05, 200.0, 200.0};
  Observer nobody;
  const double tolerance = 1e-8;
  const VectorXd u = minimise(made.z, made.target, loss, tolerance, nobody);
  VectorXd gradient = loss.ridge * u;
  for (Eigen::Index i = 0; i < made.z.rows(); ++i) {
    // Longer rows have the weight bound / length.
    const double weight = std::min(1.0, loss.row_bound / made.z.row(i).norm());
    const double p = 1.0 / (1.0 + std::exp(-made.z.row(i).dot(u)));
    gradient += weight * (p - made.target(i)) * made.z.row(i).transpose() / loss.rows;
  }
  EXPECT_LE(gradient.norm(), tolerance);
  EXPECT_GT(u.norm(), 1e-3);
}

TEST(ShiftsWithoutRows, AreTheMovesOfTheMinimiser) {
  const Problem made;
  const BoundedLoss loss{FitModel::ridge, 1e6, 10.0, 0.1, 200.0, 200.0};
  Observer nobody;
  const auto minimum = [&](const RowMajor& z, const VectorXd& y) {
    return minimise(z, y, loss, 1e-12 * loss.gradient_bound(), nobody);
  };
  const VectorXd u = minimum(made.z, made.target);
  const VectorXd shifts = shifts_without_rows(made.z, made.target, loss, u);
  for (const Eigen::Index row : {0, 7, 199}) {
    RowMajor z = made.z;
    VectorXd y = made.target;
    z.row(row).setZero();
    y(row) = 0.0;
    EXPECT_NEAR(shifts(row), (minimum(z, y) - u).norm(), 1e-4 * shifts(row)) << row;
  }
}

}  // namespace
}  // namespace sfumato
