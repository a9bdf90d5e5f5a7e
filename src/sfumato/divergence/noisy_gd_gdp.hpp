#pragma once

#include "sfumato/divergence/langevin_gdp.hpp"

namespace sfumato {

/// The last of `steps` iterates x <- T(x) + N(0, S) against those of T': |T(x) - T'(x)|_S <=
/// sensitivity for all x, and T or T' is `lipschitz`-Lipschitz in |.|_S. Full batch.
///
///   Spec §8.4 (1):   mu = d sqrt( (1+c)/(1-c) (1-c^k)/(1+c^k) ),   d sqrt(k) for c >= 1
///
/// [BokSuAltschuler2024]. Clipped gradients need c = 1 unless something else is proven (Spec §6.4).
///
/// Edges    c = 0 gives d; steps = 0 or d = 0 gives 0; steps = +inf gives the limit; c > 1 is
///          replaced by 1, and the assumptions say so.
/// Throws   InvalidArgument if sensitivity or lipschitz is negative or NaN, or steps is not a whole
///          number >= 0 or +inf.
[[nodiscard]] GdpBound noisy_gd_gdp(double sensitivity, double lipschitz, double steps);

}  // namespace sfumato
