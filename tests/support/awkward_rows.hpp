#pragma once

#include <rapidcheck.h>

#include <cmath>

#include "sfumato/fit/bounded_rows.hpp"

namespace sfumato::fixtures {

using Eigen::Index;

/// A row of norm `bound` at most that tries to be awkward: along an axis, on the sphere, tiny, with equal entries, or zero.
inline Eigen::RowVectorXd awkward_row(Index d, double bound) {
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

inline RowMajor awkward_rows(Index n, Index d, double bound) {
  RowMajor x(n, d);
  for (Index i = 0; i < n; ++i) x.row(i) = awkward_row(d, bound);
  return x;
}

}  // namespace sfumato::fixtures
