#pragma once

#include "sfumato/sde/problem/given_loss.hpp"
#include "sfumato/sde/problem/ridge.hpp"

namespace sfumato {
namespace detail {

/// Curvature and minimiser by an orthogonal factorisation of the table. The condition number
/// enters once here, and squared in a Cholesky factor of A: one row far from the others then
/// leaves no digits for them. T is double or long double.
template <class T>
struct RidgeFit {
  RidgeProblem::Weights weights;
  MatrixOf<T> upper;  ///< R, upper triangular with A = R^T R
  VectorOf<T> minimiser;
  VectorOf<T> residuals;        ///< sqrt(c) (y - X m), of all rows
  double reciprocal_condition;  ///< of A scaled to a unit diagonal: units do not matter

  /// Below 1e-12, the rank tolerance of Spec §2.
  [[nodiscard]] bool is_singular() const;
  [[nodiscard]] VectorOf<T> whiten(const VectorOf<T>& x) const;    ///< R^{-T} x
  [[nodiscard]] VectorOf<T> unwhiten(const VectorOf<T>& z) const;  ///< R^{-1} z
};

/// A row (x, y) beside the others. The ridge term is p more rows: the table is B = [sqrt(c) X; sqrt(rho) I], of which
/// A = B^T B, and e the unit vector of the row. The fit to e by least squares is B v; what it leaves, t = e - B v, is
///
///   |t|^2 = 1 - h,      t^T (Y - B m) = sqrt(c) (y - x^T m),     Y = [sqrt(c) y; 0],
///
/// so that a leverage h within 1e-20 of 1 leaves t of length 1e-10 with six digits of sixteen, where 1 - h from h has none.
template <class T>
struct RowRemainder {
  VectorOf<T> weights;  ///< v = sqrt(c) A^{-1} x
  T complement;         ///< 1 - h
  T residual;           ///< x^T m - y
};

}  // namespace detail
using detail::RidgeFit;
using detail::RowRemainder;

}  // namespace sfumato
