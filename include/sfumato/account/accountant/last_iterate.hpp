#pragma once

#include <cstdint>

#include "sfumato/core/claim.hpp"

namespace sfumato {

/// Noisy gradient descent whose last iterate alone is released (Spec §19.7): mu of Gaussian privacy. `sensitivity` is what one step moves at
/// most between neighbours, learning rate included, in standard deviations of its noise, and the maps of both data sets are `lipschitz`-Lipschitz in
/// the norm of the noise. Clipped gradients are not known to be so, not even with constant 1: without a proof use composition.

/// Every step sees all records.
///   mu = d sqrt( (1+c)/(1-c) (1-c^k)/(1+c^k) ),   d sqrt(k) for c = 1
/// Throws   InvalidArgument if sensitivity is negative, lipschitz is not in [0, 1] or steps is 0; as the others.
[[nodiscard]] Claimed<double> last_iterate_mu(double sensitivity, double lipschitz,
                                              std::uint64_t steps);

/// `batches` batches in a fixed order, `epochs` times; `sensitivity` is that of the one batch that has the record.
///   mu = d sqrt( 1 + c^{2l-2} (1-c^2)/(1-c^l)^2 (1-c^{l(E-1)})/(1+c^{l(E-1)}) ),   d sqrt(1 + (E-1)/l) for c = 1
[[nodiscard]] Claimed<double> cyclic_last_iterate_mu(double sensitivity, double lipschitz,
                                                     std::uint64_t batches, std::uint64_t epochs);

/// Every step sees all records and ends with a projection onto a convex set of this diameter, in deviations of the noise; the projection
/// must not expand distances in that norm.
///   mu = min over t = 1..k of ( [t<k] c^t diameter + d G(t) ) / sqrt(G2(t)),   G(t) = sum_{i<t} c^i,  G2(t) = sum_{i<t} c^{2i}
[[nodiscard]] Claimed<double> projected_last_iterate_mu(double sensitivity, double lipschitz,
                                                        std::uint64_t steps, double diameter);

}  // namespace sfumato
