#pragma once

#include "sfumato/fit/plan.hpp"

namespace sfumato {

/// Clip factor of classes: residuals are about that long.
inline constexpr double kClassClip = 0.5;

/// Steps, step size and clip of a descent where they are not set: those of least predicted loss among a few (Spec §22.4, §22.7). They depend on what is public
/// alone. The plan has its budget, bound, shares and rounds already.
void choose_isotropic(const PublicTable& table, const FitSettings& settings, FitPlan* plan);
void choose_whitened(const PublicTable& table, const FitSettings& settings, FitPlan* plan);

/// The floor of P^{-1} (for each effective dimension) at which noise of `multiplier` clips moves the prediction of the longest row that there can be by the
/// residual scale: rows far out in directions that are nearly empty would get nothing but noise.
[[nodiscard]] double floor_of(const FitPlan& plan, double multiplier);

}  // namespace sfumato
