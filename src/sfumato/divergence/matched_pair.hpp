#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sfumato/divergence/pair_bounds.hpp"
#include "sfumato/sde/drift_formulas.hpp"

namespace sfumato {

/// Bounds of the matched process for pairs whose drifts are formulas, by what interval arithmetic proves of them
/// (Spec §27.6): no simulation, any dimension.

/// Sets of coordinates, ascending, that neither drift, noise nor start connects: the KL is the sum of theirs.
/// Empty where a drift has no formulas or a noise depends on the state.
[[nodiscard]] std::vector<std::vector<Eigen::Index>> independent_blocks(const SdePair& pair);

/// The pair of some coordinates that form blocks; linear where all of it is.
/// Throws   as linear_pair.
[[nodiscard]] SdePair restricted(const SdePair& pair, const std::vector<Eigen::Index>& coordinates);

/// Whether both sides are the same equation: equal constant noise, and drifts whose formulas cancel.
[[nodiscard]] bool same_equation(const SdePair& pair);

/// Metrics S <= Sigma' in which the second drift is proven to contract at a finite rate, the noise's own first.
struct MetricRate {
  Covariance metric;
  double kappa;
};
[[nodiscard]] std::vector<MetricRate> contraction_metrics(const Diffusion& diffusion,
                                                          const Covariance& noise);

/// KL(p_t||q_t) from the range of b - b', the box of the Jacobian of b, and the contraction of b'; plus the KL of the
/// starts. Coordinates that separate are bounded apart, exactly where they are linear; those that are the same on both
/// sides add nothing.
///
/// Time     >= 0 or +inf.
/// Edges    infinite, with what is missing, where nothing is proven.
[[nodiscard]] KlBound matched_constants_bound(const SdePair& pair, double time);

/// What was derived of a pair and how, as sentences without a full stop: ranges, rates, blocks.
[[nodiscard]] std::vector<std::string> derived_constants(const SdePair& pair);

}  // namespace sfumato
