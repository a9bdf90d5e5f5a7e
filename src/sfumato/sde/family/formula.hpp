#pragma once

#include <string>
#include <variant>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/sde/diffusion.hpp"

namespace sfumato {

/// The diffusion covariance of a diffusion given by formulas: constant, or the formulas of its
/// diagonal, or those of all its entries by rows.
using NoiseFormulas =
    std::variant<Covariance, std::vector<std::string>, std::vector<std::vector<std::string>>>;

/// The names of coordinates when the user gives none: x; x, y; x1 ... xd.
[[nodiscard]] std::vector<std::string> coordinate_names(Eigen::Index dimension);

/// dX = b(t, X) dt + Sigma(t, X)^{1/2} dW from one formula per coordinate of the drift b, in the given
/// coordinates and the time t (Expression). The divergence of Sigma is exact: its formulas are
/// differentiated. Formulas of Sigma without variables make it constant.
///
/// A contraction constant is given where the drift is linear with constant coefficients.
///
/// Throws   InvalidArgument for a formula that cannot be read, a number of formulas that is not the
///          number of coordinates, a constant Sigma that is not a covariance matrix, or a Sigma(x)
///          that is not symmetric where it was tried.
[[nodiscard]] Diffusion formula_diffusion(const std::vector<std::string>& coordinates,
                                          const std::vector<std::string>& drift,
                                          const NoiseFormulas& noise,
                                          const Where& where = Where::here());

/// The same with b = -grad f, by exact derivatives of the formula of f.
[[nodiscard]] Diffusion potential_diffusion(const std::vector<std::string>& coordinates,
                                            const std::string& potential,
                                            const NoiseFormulas& noise,
                                            const Where& where = Where::here());

}  // namespace sfumato
