#pragma once

#include "sfumato/design/design.hpp"

namespace sfumato {

/// The covariance with the least mean cost  tr(G Sigma^{-1}),  G = E[s s^T] (Spec §9.1 and §9.2;
/// floors by the conditions of Karush, Kuhn and Tucker). Closed form: the gap is 0 up to rounding.
///
/// The isotropic, grouped and diagonal forms read only the diagonal of G. Diagonal G and W have a
/// diagonal optimum of the full form too. Factored G with fewer columns than coordinates costs
/// O(d K^2) and is the only kind the low-rank form takes.
///
/// Edges    a singular optimum comes with the warning rank_deficient, coordinates without noise with
///          silent_coordinates.
/// Throws   InvalidArgument for what require_task refuses, sizes that differ, G that is zero, has NaN
///          or is not positive semi-definite; for the full forms without floor and regularisation
///          also if G has rank one and d > 1: the optimum hides nothing beside one line.
[[nodiscard]] Design average_design(const Covariance& second_moments, const DesignTask& task);

}  // namespace sfumato
