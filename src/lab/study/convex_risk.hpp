#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "lab/study/convex_material.hpp"
#include "sfumato/core/claim.hpp"
#include "sfumato/lab/study/proven_bounds.hpp"
#include "sfumato/risk/risk.hpp"
#include "sfumato/sde/chain_law.hpp"

namespace sfumato::lab {

/// The laws of the weights on D and on D' (Spec §8): normal, known after any number of steps.
[[nodiscard]] std::array<ChainLaw, 2> chain_laws(const LinearLosses& losses, double step,
                                                 const Covariance& step_noise);

/// Linear losses: the two normal laws, compared exactly; mu where their covariances are equal. Logistic
/// losses: the smaller of Spec §8.3 and §8.4 in every view, as for rows of a table.
///
/// Never throws for lack of a bound: a step that does not contract, noise that is singular or laws
/// that double precision cannot compare are a `reason`.
[[nodiscard]] ProvenRisk proven_risk(const ConvexPair& pair, const Covariance& step_noise,
                                     std::uint64_t steps);

}  // namespace sfumato::lab
