#pragma once

#include <string>
#include <vector>

#include "sfumato/core/claim.hpp"
#include "sfumato/core/units.hpp"
#include "sfumato/divergence/kl_bound.hpp"

namespace sfumato {

/// From a mu that is proven up to rounding, which is put back (kRoundedUp).
[[nodiscard]] GdpBound gdp_bound(double mu, std::string method,
                                 std::vector<std::string> assumptions);

/// Two diffusions with |Sigma^{-1/2} (b(x) - b'(x))| <= sensitivity for all x, a common start and
/// one constant positive definite Sigma; one of the drifts is kappa-contractive in its metric.
///
///   Spec §6.4 (1):   mu = S sqrt( (2/kappa) tanh(kappa t/2) ),   S sqrt(t) for kappa = 0
///
/// It is a differential-privacy guarantee if sensitivity and kappa hold for all adjacent pairs. A
/// clipped drift is bounded and so never contractive by itself: take kappa = 0 for it.
///
/// Edges    sensitivity or time 0 gives 0; time = +inf gives S sqrt(2/kappa), or +inf for kappa =
///          0; kappa < 0 is replaced by 0, and the assumptions say so.
/// Throws   InvalidArgument if sensitivity or time is negative or NaN or kappa is not finite.
[[nodiscard]] GdpBound langevin_gdp(double sensitivity, double kappa, double time);

}  // namespace sfumato
