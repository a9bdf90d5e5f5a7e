#pragma once

#include "sfumato/math/covariance.hpp"

namespace sfumato {

/// The covariance of one step of noisy gradient descent,  S = learning_rate Sigma,  for a Sigma of full rank with
/// the digits that risks need. The products of a full matrix are rounded, and a direction along which Sigma is
/// 1e-11 of its entries keeps five digits of sixteen.
///
/// Throws   NumericalFailure if rounding could change a variance along some direction by more than 1e-6 of it.
[[nodiscard]] Covariance step_noise(const Covariance& sigma, double learning_rate);

}  // namespace sfumato
