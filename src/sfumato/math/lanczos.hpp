#pragma once

#include <Eigen/Core>
#include <functional>

namespace sfumato {

struct LanczosOptions {
  Eigen::Index count = 1;         ///< pairs wanted, >= 1
  Eigen::Index most_steps = 100;  ///< products with the matrix, >= count
  double tolerance = 1e-8;        ///< residual, relative to the largest absolute eigenvalue seen
};

/// The largest eigenvalues of a symmetric matrix (largest with their sign, not in absolute value).
struct EigenPairs {
  Eigen::VectorXd values;     ///< descending
  Eigen::MatrixXd vectors;    ///< by columns, orthonormal
  Eigen::VectorXd residuals;  ///< |A v - value v|: some eigenvalue is this close to the value
  Eigen::Index products = 0;  ///< of the matrix with a vector
  bool converged = false;     ///< all residuals are within the tolerance
};

/// By Lanczos with full reorthogonalisation, from `apply`: v -> A v alone. Keeps most_steps vectors.
///
/// The start is a fixed pseudo-random vector. A computed value never exceeds the largest
/// eigenvalue (beyond rounding), and residuals say how near it is to *some* eigenvalue; nothing proves
/// that it is the largest, and of equal eigenvalues only one may be found. An estimate, then.
/// Fewer than `count` pairs only if the dimension is smaller.
///
/// Throws   InvalidArgument for a dimension, count or number of steps below 1 or a tolerance that is
///          negative or NaN; NumericalFailure if a product is not finite.
[[nodiscard]] EigenPairs largest_eigenpairs(
    Eigen::Index dimension, const std::function<Eigen::VectorXd(const Eigen::VectorXd&)>& apply,
    const LanczosOptions& options = {});

}  // namespace sfumato
