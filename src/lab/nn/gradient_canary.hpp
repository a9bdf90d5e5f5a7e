#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lab/nn/network.hpp"
#include "lab/nn/noise_policy.hpp"

namespace sfumato::lab {

/// What a record whose gradient is always `canary` reveals in full-batch steps with noise of variances (noise_multiplier clip)^2 v_i,
/// beside what is certified for every record (Spec §25.2): mu of Gaussian privacy. The canary is clipped to `clip` in the metric of the noise.
struct CanaryMu {
  double pair;       ///< of this record
  double certified;  ///< sqrt(steps) / noise_multiplier
};
/// Throws   InvalidArgument if sizes differ or a variance, the clip or the multiplier is not positive.
[[nodiscard]] CanaryMu canary_mu(std::span<const double> variances, std::span<const double> canary,
                                 double clip, double noise_multiplier, std::uint64_t steps);

/// A gradient of the largest norm that the policy lets through, in one coordinate of each block that is clipped by itself: what an audit of
/// the mechanism puts in a record's place. Whatever the coordinate, it stands out of the noise as far as any gradient can. Canary number k
/// has coordinate k of each block (of all parameters, where there is one clip). The metric low_rank adds noise along its factor: there canaries
/// have the coordinates with the least of it. The metric released has another shape in each step, which is known before the step: the canary
/// grows and shrinks with it, so that each step shows it as well as any other.
struct GradientCanary {
  std::vector<std::size_t> coordinates;
  std::vector<float> values;  ///< of the sum before it is divided
  /// What sums along the coordinates are weighed with for the best score: value over the variance of the noise.
  std::vector<double> weights;
};
/// `shape`: for the metric released, the shape of the step's noise, one number for each parameter; none: isotropic, as in the first steps.
/// Throws   InvalidArgument for a policy that does not clip, and if there is no coordinate of that number.
[[nodiscard]] GradientCanary gradient_canary(const NoisePolicy& policy, const Network& network,
                                             std::size_t number = 0,
                                             std::span<const float> shape = {});

}  // namespace sfumato::lab
