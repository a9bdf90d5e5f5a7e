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
  double reciprocal_condition;  ///< of A scaled to a unit diagonal: units do not matter

  /// Below 1e-12, the rank tolerance of Spec §2.
  [[nodiscard]] bool is_singular() const;
  [[nodiscard]] VectorOf<T> whiten(const VectorOf<T>& x) const;    ///< R^{-T} x
  [[nodiscard]] VectorOf<T> unwhiten(const VectorOf<T>& z) const;  ///< R^{-1} z
};

}  // namespace detail
using detail::RidgeFit;

}  // namespace sfumato
