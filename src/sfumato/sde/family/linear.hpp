#pragma once

#include "sfumato/sde/diffusion.hpp"
#include "sfumato/sde/ou_distribution.hpp"

namespace sfumato {

/// An Ornstein-Uhlenbeck process as a diffusion, for what takes any diffusion; its distribution is exact in
/// OuDistribution. Its contraction constant is that of Spec §6.3 for linear drifts, sharp in every metric.
///
/// Throws   InvalidArgument if sizes differ, A is not symmetric, or an entry is not finite.
[[nodiscard]] Diffusion linear_diffusion(const OuProcess& process);

}  // namespace sfumato
