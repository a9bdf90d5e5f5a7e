// Awkward rows never move a sum of clipped gradients by more than stated (Spec §22.4, §24.2).
#include "sfumato/fit/descent.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "support/awkward_rows.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using fixtures::awkward_row;
using fixtures::awkward_rows;

RC_GTEST_PROP(DescentSensitivity, OfOneRecordIsAtMostTheClip, ()) {
  const Index d = *rc::gen::inRange<Index>(1, 6), n = *rc::gen::inRange<Index>(1, 8);
  const FitModel model = *rc::gen::element(FitModel::ridge, FitModel::logistic, FitModel::softmax);
  const Index outputs = outputs_of(model, 3);
  const double clip = *rc::gen::element(1e-3, 0.7, 50.0);
  RowMajor z = awkward_rows(n, d, *rc::gen::element(1e-8, 1.0, 1e8));
  Eigen::VectorXd target(n);
  for (double& y : target) {
    y = model == FitModel::ridge      ? *rc::gen::inRange(-100, 101) / 7.0
        : model == FitModel::logistic ? static_cast<double>(*rc::gen::inRange(-1, 2))
                                      : static_cast<double>(*rc::gen::inRange(-1, 3));
  }
  Eigen::MatrixXd at(d, outputs);
  for (double& u : at.reshaped()) u = *rc::gen::element(0.0, 1.0, -3.0, 1e3, 1e200, -1e308);
  const SumGrid grid = sum_grid(clip, *rc::gen::element(0.5, 5.0, 200.0), 1e4, 1e4);
  Observer nobody;
  const auto sum = [&](const RowMajor& rows, const Eigen::VectorXd& y, const RoundingGrid* on) {
    return clipped_gradient_sum({rows, y, model}, at, clip, on, nobody);
  };
  RowMajor without = z;
  Eigen::VectorXd without_target = target;
  without.row(0).setZero();
  without_target(0) = model == FitModel::ridge ? 0.0 : -1.0;
  RowMajor other = without;
  Eigen::VectorXd other_target = target;
  other.row(0) = awkward_row(d, 1.0);
  const Eigen::MatrixXd all = sum(z, target, &grid.grid);
  const double removed = (all - sum(without, without_target, &grid.grid)).squaredNorm();
  const double replaced = (all - sum(other, other_target, &grid.grid)).squaredNorm();
  RC_ASSERT(removed <= grid.grid.square);
  RC_ASSERT(replaced <= 4.0 * grid.grid.square);
  const double idealised = (sum(z, target, nullptr) - sum(without, without_target, nullptr)).norm();
  RC_ASSERT(idealised <= clip);
}

}  // namespace
}  // namespace sfumato
