#pragma once

#include <Eigen/Core>
#include <optional>

#include "sfumato/math/whitened_pair.hpp"
#include "sfumato/sde/problem/given_loss.hpp"
#include "sfumato/sde/problem/ridge.hpp"

namespace sfumato {

/// How one row changes the curvature and the minimiser of a ridge problem, in the coordinates
/// z = R w, A = R^T R, in which the loss of the reference (RidgeProblem::reference) has curvature I.
/// There, with orthonormal columns e_k (one, two when the row is replaced, none for a row of
/// zeros):
///
///   inverse of the neighbour's curvature = I + sum_k excess_k e_k e_k^T
///   neighbour's minimiser - reference's  = sum_k shift_k e_k
///
/// Removal of (x, y), with u = sqrt(c) R^{-T} x, the leverage h = |u|^2 and the residual
/// r = x^T m - y at the minimiser m: the curvature becomes I - u u^T and its gradient at m is
/// -sqrt(c) r u, so that  e = u / |u|,  excess = h / (1 - h),  shift = sqrt(c h) r / (1 - h).
/// Replacement by (x', y') adds v v^T, v = sqrt(c) R^{-T} x', and sqrt(c) r' v in the same way; the
/// e_k are eigenvectors of v v^T - u u^T in the span of u and v.
template <class T>
struct RowChange {
  MatrixOf<T> directions;  ///< e_k, by columns
  Eigen::Array<T, Eigen::Dynamic, 1> excess;
  Eigen::Array<T, Eigen::Dynamic, 1> ratio;  ///< 1 + excess, without its cancellation near 0
  Eigen::Array<T, Eigen::Dynamic, 1> shift;
};

/// O(p^2), and O(N p) where h is above 0.99 and 1 - h and r are small differences: RowRemainder has their digits.
/// T is double or long double.
///
/// Empty when the neighbour has no unique minimiser: a row that alone determines a parameter.
/// Throws   NumericalFailure if the table itself has none.
template <class T = double>
[[nodiscard]] std::optional<RowChange<T>> row_change(const RidgeProblem& problem, Eigen::Index row,
                                                     const std::optional<Record>& replacement);

/// The neighbour's minimiser less that of the table. Empty and throws as row_change.
template <class T = double>
[[nodiscard]] std::optional<VectorOf<T>> minimiser_shift(const RidgeProblem& problem,
                                                         Eigen::Index row,
                                                         const std::optional<Record>& replacement);

/// The two minimisers with the same noise added to both, against each other: at least eight digits,
/// from as many as it takes (compare_precisely). Empty and throws as row_change, and as compare_precisely; Stopped
/// if the observer asked to stop.
[[nodiscard]] std::optional<WhitenedPair> ridge_pair_released(
    const RidgeProblem& problem, Eigen::Index row, const std::optional<Record>& replacement,
    const Covariance& noise, const Observer& observer = Observer());

/// The stationary distributions of noisy gradient flow on the table (P) and on its neighbour (Q), with noise
/// Sigma = noise_variance I: P = N(m, s^2/2 A^{-1}), so that all but one or two of the ratios of
/// variances are 1, without shift, and are left out (Spec §3.2, §5). At least eight digits, from as
/// many as it takes (compare_precisely).
///
/// Empty    when the neighbour has no stationary distribution.
/// Throws   InvalidArgument if noise_variance is not positive; NumericalFailure if the table itself has no stationary distribution, or as compare_precisely;
///          Stopped if the observer asked to stop.
[[nodiscard]] std::optional<WhitenedPair> ridge_pair_stationary(
    const RidgeProblem& problem, Eigen::Index row, const std::optional<Record>& replacement,
    double noise_variance, const Observer& observer = Observer());

}  // namespace sfumato
