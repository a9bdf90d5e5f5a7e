#pragma once

#include <Eigen/Core>

#include "sfumato/math/covariance.hpp"

namespace sfumato {

/// Two normal distributions P and Q in coordinates where P = N(0, I) and Q = N(shift, diag(ratio))
/// (Spec §3.2): everything that any divergence between them depends on.
struct WhitenedPair {
  /// True when the distributions live on different sets (Spec §2, edge cases): every divergence is then
  /// infinite and the arrays are empty.
  bool mutually_singular = false;
  /// True when a rank was decided with the tolerance of Spec §2 rather than by exact zeros.
  bool used_rank_tolerance = false;
  Eigen::ArrayXd
      excess;  ///< ratio - 1, kept apart: it holds the digits when the distributions nearly agree
  Eigen::ArrayXd ratio;  ///< lam_i > 0, variance of Q over variance of P
  Eigen::ArrayXd shift;  ///< c_i, in standard deviations of P
};

/// Diagonalises both covariances at once; O(d) for diagonal pairs, O(d k^2) for Factored pairs
/// with proportional diagonals, O(d^3) otherwise.
///
/// Edges   both covariances singular: reduced to their common range if it is the same for both and
///         contains the difference of the means, otherwise mutually singular; one singular:
///         mutually singular. Ranks are exact for Isotropic and Diagonal; for the others
///         eigenvalues below 1e-12 of the largest, after scaling to unit variances, count as zero.
/// Throws  InvalidArgument if the dimensions differ.
[[nodiscard]] WhitenedPair whiten(const Eigen::VectorXd& mean_p, const Covariance& cov_p,
                                  const Eigen::VectorXd& mean_q, const Covariance& cov_q);

/// Refuses pairs that double precision cannot compare: a ratio that is not finite and positive, or
/// shifts whose squares overflow.
/// Throws  NumericalFailure.
void require_comparable(const WhitenedPair& pair);

/// The pair with P and Q exchanged.
[[nodiscard]] WhitenedPair swapped(const WhitenedPair& pair);

/// The pair N(0, 1), N(mu, 1): what a mu-GDP mechanism looks like at worst (Spec §3.1).
[[nodiscard]] WhitenedPair shifted_normals(double mu);

}  // namespace sfumato
