#pragma once

#include <Eigen/Core>

#include "sfumato/math/covariance.hpp"

namespace sfumato {

/// Gradient differences s_1 .. s_K, one per row. A view: a row-major array, or a file mapped into
/// memory, is read where it is. (A column-major matrix is copied by the conversion.)
using RowMajorMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Differences = Eigen::Ref<const RowMajorMatrix, 0, Eigen::OuterStride<>>;

/// Throws   InvalidArgument if there is none, an entry is not finite or a row is zero, with the row.
void require_differences(const Differences& differences);

/// mean_k s_ki^2 for every coordinate, in one pass: the second moments of Spec §9.1.
[[nodiscard]] Diagonal second_moments(const Differences& differences);

/// mean_k s_k s_k^T of Spec §9.2: d x d, or d x K factors when there are fewer differences than
/// coordinates.
[[nodiscard]] Covariance second_moment_matrix(const Differences& differences);

/// Second moments that stand for all differences with |s_i| <= sensitivity_i. The largest cost over
/// that box is the mean cost with these moments for diagonal noise; and since the box does not
/// change when a coordinate changes its sign, no correlated noise does better.
///
/// Throws   InvalidArgument if one is negative or not finite, or all are zero.
[[nodiscard]] Diagonal second_moments_of_box(const Eigen::VectorXd& sensitivities);

}  // namespace sfumato
