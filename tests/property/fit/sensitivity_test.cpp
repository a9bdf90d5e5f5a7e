// Adversarial rows, bounded as declared, never move what is released by more than stated, in the stated norm (Spec §22.2, §22.4, §24.2).
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "sfumato/account/lattice/discrete_noise.hpp"
#include "sfumato/fit/descent.hpp"
#include "sfumato/fit/moments.hpp"

namespace sfumato {
namespace {

using Eigen::Index;

/// A row of norm `bound` at most that tries to be awkward: along an axis, on the sphere, tiny, with equal entries, or zero.
Eigen::RowVectorXd awkward_row(Index d, double bound) {
  Eigen::RowVectorXd row = Eigen::RowVectorXd::Zero(d);
  const int kind = *rc::gen::inRange(0, 6);
  if (kind == 0) return row;
  if (kind == 1) {
    row(*rc::gen::inRange<Index>(0, d)) = *rc::gen::element(-bound, bound);
    return row;
  }
  if (kind == 2)
    return Eigen::RowVectorXd::Constant(d,
                                        bound / std::sqrt(static_cast<double>(d)) * (1.0 - 1e-15));
  for (double& x : row) x = *rc::gen::inRange(-1000, 1001) / 1000.0;
  if (row.norm() == 0.0) return row;
  row *= bound * (1.0 - 1e-15) / row.norm();
  if (kind == 3) row *= 1e-9;
  if (kind == 4) row *= *rc::gen::inRange(1, 1000) / 1000.0;
  return row;
}

RowMajor awkward_rows(Index n, Index d, double bound) {
  RowMajor x(n, d);
  for (Index i = 0; i < n; ++i) x.row(i) = awkward_row(d, bound);
  return x;
}

RC_GTEST_PROP(MomentSensitivity, OfIntegerRowsIsWithinMu, ()) {
  const Index d = *rc::gen::inRange<Index>(1, 7);
  const double bound = *rc::gen::element(1e-6, 1.0, 3.3, 1e6);
  const double mu = *rc::gen::element(0.003, 0.2, 1.0, 8.0);
  const bool replaced = *rc::gen::arbitrary<bool>();
  const double draws = 0.5 * static_cast<double>(d * (d + 1));
  const MomentGrid grid = moment_grid(bound, mu, replaced, 1000.0, draws);
  Eigen::ArrayXd v = awkward_row(d, bound).transpose().array();
  Eigen::ArrayXd w = awkward_row(d, bound).transpose().array();
  grid.grid.round(v);
  grid.grid.round(w);
  if (!replaced) w.setZero();
  const Eigen::MatrixXd difference =
      v.matrix() * v.matrix().transpose() - w.matrix() * w.matrix().transpose();
  const auto n = static_cast<double>(grid.deviation), diagonal = static_cast<double>(grid.diagonal);
  double square = 0.0;
  for (Index j = 0; j < d; ++j) {
    square += std::pow(difference(j, j) / diagonal, 2);
    for (Index i = j + 1; i < d; ++i) square += std::pow(difference(i, j) / n, 2);
  }
  RC_ASSERT(std::sqrt(square) * discrete_noise_cost(n, draws).mu_factor <= mu);
}

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
    return clipped_gradient_sum(rows, y, model, at, clip, on, nobody);
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

RC_GTEST_PROP(GridSums, AreTheSameBitsInAnyOrder, ()) {
  const Index d = *rc::gen::inRange<Index>(1, 5), n = 3000;
  RowMajor x = RowMajor::Random(n, d);
  x.rowwise().normalize();
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), Index{0});
  std::reverse(order.begin(), order.end());
  std::swap(order[17], order[2003]);
  RowMajor shuffled(n + 2, d);  // with null rows
  shuffled.setZero();
  for (Index i = 0; i < n; ++i) shuffled.row(i + 1) = x.row(order[static_cast<std::size_t>(i)]);
  Observer nobody;
  const auto released = [&](const RowMajor& rows) {
    ReleaseBits bits(ReleaseKey::from_seed(3));
    return release_moments(rows, 1.0, 0.5, NeighbouringRelation::zero_out, 5000.0, NoiseMode::grid,
                           bits, nobody)
        .sum;
  };
  RC_ASSERT(released(x) == released(shuffled));
}

}  // namespace
}  // namespace sfumato
