#pragma once

#include <Eigen/Core>
#include <optional>
#include <string_view>
#include <variant>

#include "sfumato/core/error.hpp"

namespace sfumato {

/// A symmetric positive semi-definite matrix, as a value. The set is closed: every operation is
/// one function over the variant. Zero variances are allowed (a point start, a noiseless
/// direction); the operations that need an inverse say so.
struct Isotropic {
  double variance;
  Eigen::Index dimension;
};
struct Diagonal {
  Eigen::VectorXd variances;
};
/// diag(diagonal) + factor factor^T with a thin factor.
struct Factored {
  Eigen::VectorXd diagonal;
  Eigen::MatrixXd factor;
};
struct Dense {
  Eigen::MatrixXd matrix;
};
using Covariance = std::variant<Isotropic, Diagonal, Factored, Dense>;

/// Checks finiteness, shape, symmetry (to 1e-9 of the largest entry; the result is symmetrised) and
/// positive semi-definiteness (eigenvalues may be negative by rounding, 1e-12 of the largest).
///
/// `name` is what the message calls the matrix, `where` is the user's file or the caller.
/// Throws InvalidArgument with the offending entry or eigenvalue.
[[nodiscard]] Covariance require_covariance(std::string_view name, Covariance covariance,
                                            const Where& where = Where::here());

/// Variances or eigenvalues below this share of the largest count as zero where a rank must be
/// decided in floating point (Spec §2).
inline constexpr double kRankTolerance = 1e-12;

/// Whether a covariance matrix has full rank: no eigenvalue below kRankTolerance of the largest
/// after scaling to unit variances, so that the parameters' units do not matter.
[[nodiscard]] bool has_full_rank(const Eigen::MatrixXd& matrix);

/// Whether a covariance has an inverse (exact zeros, or has_full_rank for Factored and Dense).
[[nodiscard]] bool is_definite(const Covariance& covariance);

/// Whether two covariances are the same matrix, entry by entry; whatever kind holds them.
[[nodiscard]] bool same_matrix(const Covariance& a, const Covariance& b);

/// Whether a covariance has no entry but zeros beside the diagonal; a Factored one must have no
/// column with two entries.
[[nodiscard]] bool is_diagonal(const Covariance& covariance);

/// sigma^2 where the covariance is sigma^2 I with sigma > 0, in whatever form it is given.
[[nodiscard]] std::optional<double> isotropic_variance(const Covariance& covariance);

[[nodiscard]] Eigen::Index dimension(const Covariance& covariance);
[[nodiscard]] Eigen::VectorXd diagonal_of(const Covariance& covariance);
[[nodiscard]] double trace(const Covariance& covariance);
[[nodiscard]] Eigen::MatrixXd dense(const Covariance& covariance);

/// factor * covariance, of the same kind; factor >= 0.
[[nodiscard]] Covariance scaled(const Covariance& covariance, double factor);

/// covariance * vectors, column by column, without forming a dense matrix.
[[nodiscard]] Eigen::MatrixXd multiply(const Covariance& covariance,
                                       const Eigen::MatrixXd& vectors);

/// covariance^{-1} * vectors: Woodbury for Factored, Cholesky for Dense.
/// Throws NumericalFailure if the covariance is singular (Dense: has_full_rank).
[[nodiscard]] Eigen::MatrixXd solve(const Covariance& covariance, const Eigen::MatrixXd& vectors);

/// Sum of the logarithms of the eigenvalues; -inf when singular.
[[nodiscard]] double log_det(const Covariance& covariance);

/// A matrix R with R R^T = covariance (d x d, or d x (d + k) for Factored): draws are mean + R z.
[[nodiscard]] Eigen::MatrixXd root(const Covariance& covariance);

}  // namespace sfumato
