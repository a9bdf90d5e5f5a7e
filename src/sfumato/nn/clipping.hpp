#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sfumato {

/// How the gradient of every record of a model is clipped before it is added to the others (Spec §23):
///
///   one clip         g <- g min(1, clip / |g|)
///   one per block    the same for the part g_l of each block by itself, with clips[l]
///
/// A gradient with an entry that is not finite is replaced by zero. The norm is Euclidean or, with a metric, sqrt(sum_i g_i^2 / variance_i).
struct Clipping {
  std::vector<double> clips;  ///< positive; empty: gradients are not clipped

  [[nodiscard]] bool by_block() const { return clips.size() > 1; }
};

/// Gradients are clipped to (1 - margin) clip: norms are computed in double precision, but what is added are products in single
/// precision, each off by a few units in its last place.
constexpr double kClipMargin = 1e-6;
/// With a metric norms are sums in single precision, off by half a unit in the last place per term.
constexpr double kMetricClipMargin = 2e-4;

}  // namespace sfumato
