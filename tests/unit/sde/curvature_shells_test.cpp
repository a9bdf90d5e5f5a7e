#include "sfumato/sde/problem/curvature_shells.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <cstdlib>

#include "sfumato/core/parallel.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

ClassificationFit fit_of(const RidgeOptions& options, double unit) {
  std::srand(3);
  const MatrixXd x = unit * MatrixXd::Random(60, 3);
  const VectorXd y = (x.col(0) + unit * VectorXd::Random(60)).array().sign().max(0.0);
  return ClassificationFit(ClassificationProblem::logistic(x, y, options));
}

TEST(CurvatureShells, BoundTheHessianEverywhereInside) {
  for (const double unit : {1e-6, 1.0, 1e6}) {
    for (const LossScale loss : {LossScale::sum, LossScale::mean}) {
      const ClassificationFit fit = fit_of({loss, 0.3 * unit * unit}, unit);
      const Observer observer;
      const CurvatureShells shells(fit, 0.4, observer);
      ASSERT_GT(shells.count(), 10U);
      EXPECT_EQ(shells.radius(0), 0.0);
      const VectorXd centre = fit.convexity().minimiser;
      const MatrixXd metric = fit.problem().hessian(centre);
      const MatrixXd root = Eigen::SelfAdjointEigenSolver<MatrixXd>(metric).operatorInverseSqrt();
      for (std::size_t k = 0; k < shells.count(); ++k) {
        for (int draw = 0; draw < 20; ++draw) {
          VectorXd direction = VectorXd::Random(3);
          direction.normalize();
          const double share = draw % 2 == 0 ? 1.0 : 0.5;
          const VectorXd at = centre + share * shells.radius(k) * (root * direction);
          const MatrixXd hessian = fit.problem().hessian(at);
          const VectorXd v = VectorXd::Random(3);
          // v^T Hess^{-1} v <= v^T M^{-1} v, Hess >= least G
          const double exact = v.dot(hessian.ldlt().solve(v));
          EXPECT_LE(exact, shells.whiten(k, v).squaredNorm() * shells.slack(k) * (1.0 + 1e-12));
          EXPECT_GE(v.dot(hessian * v), shells.least(k) * v.dot(metric * v) * (1.0 - 1e-12));
        }
      }
    }
  }
}

TEST(CurvatureShells, StopAndRefuse) {
  struct Stop : Observer {
    [[nodiscard]] bool stop_requested() const override { return true; }
  } stop;
  const ClassificationFit fit = fit_of({LossScale::sum, 0.3}, 1.0);
  EXPECT_THROW(CurvatureShells(fit, 1.0, stop), Stopped);
  EXPECT_THROW(CurvatureShells(fit, 0.0, Observer()), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
