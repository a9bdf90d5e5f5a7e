// Awkward rows never move second moments by more than stated, in the stated norm (Spec §22.2, §24.2).
#include "sfumato/fit/moments.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "sfumato/account/accountant/release_grid.hpp"
#include "sfumato/account/lattice/discrete_noise.hpp"
#include "support/awkward_rows.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using fixtures::awkward_row;

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
    return release_moments(rows, {1.0, 0.5, 5000.0},
                           {NeighbouringRelation::zero_out, NoiseMode::grid, bits}, nobody)
        .sum;
  };
  RC_ASSERT(released(x) == released(shuffled));
}

}  // namespace
}  // namespace sfumato
