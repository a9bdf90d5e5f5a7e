#pragma once

#include "sfumato/account/accountant/release.hpp"
#include "sfumato/core/observer.hpp"

namespace sfumato {

/// One number for a whole curve (Spec §31): the releases are mu-Gaussian private outside an event of the probability `outside`,
///
///   delta(eps) <= outside + (1 - outside) delta_mu(eps)     for all eps >= 0, in both directions,
///
/// and the trade-off curve of mu exceeds theirs by the regret at most: f(alpha + regret) - regret <= G_mu(alpha).
struct GdpSummary {
  double outside;             ///< d0
  double mu_lower, mu_upper;  ///< of the least mu
  double regret;              ///< at most, of mu_upper
};

/// Throws   InvalidArgument at the key mu_outside if it is not in [0, 1), if it is 0 for releases that sample records (no mu but that of the run without
///          sampling holds then), or if as much as that is disclosed anyway; NumericalFailure where delta falls too slowly; Stopped.
[[nodiscard]] GdpSummary gdp_summary(const PrivateReleases& releases, double outside,
                                     const Observer* observer = nullptr);

}  // namespace sfumato
