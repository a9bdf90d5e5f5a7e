#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sfumato/data/keys/key.hpp"
#include "sfumato/problem/side.hpp"
#include "sfumato/sde/diffusion.hpp"
#include "sfumato/sde/ou_distribution.hpp"

namespace sfumato {

/// One side of a pair of equations, without its start.
struct SideDiffusion {
  Diffusion diffusion;
  std::string kind;                      ///< for people: "drift by formulas"
  std::optional<OuProcess> linear = {};  ///< where the drift is linear and the noise constant
};

/// The keys that say a drift, one of which a side must have.
[[nodiscard]] const std::vector<std::string>& drift_keys();

/// The keys of [d] and what [d_prime] has besides.
[[nodiscard]] std::vector<KeyInfo> sde_side_keys();

/// Refuses a key that nothing knows, suggesting the nearest, and one that does not go with the way in which this
/// side says its drift.
/// Throws   InvalidArgument with file:line:column, also if the drift is not said.
void require_known_keys(const Side& side);

/// Reads the drift and the noise of a side that is no model.
/// Throws   InvalidArgument with file:line:column, and as the readers of the files it names.
[[nodiscard]] SideDiffusion read_sde_side(const Side& side);

/// Throws   InvalidArgument if the drift has no value where the flow starts.
void require_finite_drift(const Side& side, const Diffusion& diffusion,
                          const GaussianDistribution& start);

}  // namespace sfumato
