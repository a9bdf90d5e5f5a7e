#pragma once

#include <cmath>
#include <numbers>
#include <vector>

#include "sfumato/privacy/accounting/step.hpp"

/// Where the integrals of one step are summed, and how finely (Spec §18.1).
namespace sfumato::nodes {

inline constexpr double kUnit = 0x1p-53;
inline constexpr double kNeglected = 60.0;  ///< nats below the largest term
inline const double kLogRootTwoPi = 0.5 * std::log(2.0 * std::numbers::pi);

struct Range {
  double low, high;
};

/// Where the density tilted at s0 is: beyond it 2.2e-21 of M(s0) is left.
[[nodiscard]] Range range_of(const SampledGaussian& step, double s0);

/// The parts of a range where the terms at s0 are not negligible, from left to right: beyond them each is less than
/// e^-kNeglected of the largest. By halving intervals: the loss is monotone, so that an interval bounds its terms.
[[nodiscard]] std::vector<Range> located(const SampledGaussian& step, double s0, Range range);

/// g and p of Theorem Q: how often the loss turns, and the power of a cosine.
[[nodiscard]] double turns_of(const SampledGaussian& step);
[[nodiscard]] double power_of(const SampledGaussian& step, double s0);

/// The largest spacing for which Theorem Q gives an error of e^-40 / k for |Im s| <= reach; `width` is that of a smooth
/// cut (Spec §18.5), infinite where nothing is cut.
[[nodiscard]] double spacing_for(const SampledGaussian& step, double s0, double reach,
                                 double width);

/// About how many nodes a step takes at s0 and a reach, without making them.
[[nodiscard]] double count_for(const SampledGaussian& step, double s0, double reach);

}  // namespace sfumato::nodes
