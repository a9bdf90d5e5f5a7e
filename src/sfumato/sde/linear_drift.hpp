#pragma once

#include <Eigen/Core>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/sde/diffusion.hpp"

namespace sfumato {

/// The drift  b(x) = -(A x - pull)  of a quadratic loss (Spec §5), A any square matrix.
///
/// Throws   InvalidArgument if A is not square, pull has another size, or an entry is not finite.
[[nodiscard]] Field linear_drift(const Eigen::MatrixXd& curvature, const Eigen::VectorXd& pull);

/// The drift  b(x) = c_0 + c_1 x + c_2 x^2 + ...  on the line; the double well is {0, 1, 0, -1}.
///
/// Throws   InvalidArgument if there is no coefficient or one is not finite.
[[nodiscard]] Field polynomial_drift(const std::vector<double>& coefficients,
                                     const Where& where = Where::here());

}  // namespace sfumato
