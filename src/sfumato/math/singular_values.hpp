#pragma once

#include <Eigen/Core>

namespace sfumato {

/// Singular values, descending. Eigen's decompositions, compiled once: they take a source ten seconds.
[[nodiscard]] Eigen::VectorXd singular_values(const Eigen::MatrixXd& matrix);

/// U V^T of a square matrix U S V^T: the rotation that is nearest to it.
[[nodiscard]] Eigen::MatrixXd polar_factor(const Eigen::MatrixXd& matrix);

struct LeftSingular {
  Eigen::VectorXd values;   ///< descending
  Eigen::MatrixXd vectors;  ///< of the left, by columns
};

/// By divide and conquer, for square matrices of any size.
[[nodiscard]] LeftSingular left_singular(const Eigen::MatrixXd& matrix);

}  // namespace sfumato
