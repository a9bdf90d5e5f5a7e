#pragma once

#include <Eigen/Core>

#include "sfumato/math/covariance.hpp"

namespace sfumato {

/// A symmetric matrix as Q diag(values) Q^T.
struct Spectrum {
  Eigen::VectorXd values;  ///< ascending, or the entries in their place when the matrix is diagonal
  Eigen::MatrixXd vectors;  ///< Q, by columns; empty when the matrix is diagonal, where Q = I

  [[nodiscard]] bool is_diagonal() const { return vectors.size() == 0; }
  [[nodiscard]] Eigen::VectorXd to_eigenbasis(const Eigen::VectorXd& x) const;    ///< Q^T x
  [[nodiscard]] Eigen::VectorXd from_eigenbasis(const Eigen::VectorXd& x) const;  ///< Q x
  [[nodiscard]] Eigen::MatrixXd rotated(const Covariance& covariance) const;  ///< Q^T covariance Q
};

/// Noise and pull along a direction in which the matrix vanishes are zero up to the rounding of
/// Q^T Sigma Q and Q^T pull: below this share of the largest variance, of the pull's length. Wider
/// for the pull, which is usually itself a sum (B^T y) with rounding.
inline constexpr double kNoNoise = 1e-12;
inline constexpr double kNoPull = 1e-10;

/// How far off the eigenvalues of a matrix that is not diagonal may be: 4 d 2.2e-16 of the largest.
[[nodiscard]] double rounding_of(const Spectrum& spectrum);

/// The eigenvalues and eigenvectors of a symmetric matrix (its lower half is read).
///
/// A diagonal matrix keeps its entries exactly. Otherwise eigenvalues smaller than the solver's own
/// rounding, 4 d 2.2e-16 of the largest, are set to zero: a B^T B of deficient rank is singular, and
/// not definite or indefinite by chance.
[[nodiscard]] Spectrum spectrum_of(const Eigen::MatrixXd& matrix);

}  // namespace sfumato
