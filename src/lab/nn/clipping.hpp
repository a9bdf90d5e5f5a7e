#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sfumato::lab {

/// How the gradient of every record of a model is clipped before it is added to the others (Spec §23):
///
///   one clip         g <- g min(1, clip / |g|)
///   one per block    the same for the part g_l of each block by itself, with clips[l]
///
/// A gradient with an entry that is not finite, or so large that clipped in single precision it would keep no digits, is replaced by zero. The norm is Euclidean or, with a metric, sqrt(sum_i g_i^2 / variance_i).
struct Clipping {
  std::vector<double> clips;  ///< positive; empty: gradients are not clipped

  [[nodiscard]] bool by_block() const { return clips.size() > 1; }
};

/// Gradients are clipped to (1 - margin) clip. Of the margin, this much is for a record by itself: norms are computed in double precision, but
/// what is added are products in single precision, each off by a few units in its last place.
constexpr double kClipMargin = 1e-6;
/// And this much for its sum with the others (Spec §24.1). The k-th addition in a piece of n rows is off by half a unit in the last place of at most k
/// clips, differently with the record and without: n (n + 1) / 2 of these in each. Pieces are added in double precision; their total is
/// rounded once, by half a unit in the last place of at most `batch` clips.
[[nodiscard]] constexpr double sum_margin(std::size_t piece, std::size_t batch) {
  const auto n = static_cast<double>(piece);
  return (n * (n + 1.0) + 2.0 * static_cast<double>(batch)) * 0x1p-24;
}
/// Pieces of clipped gradients are no longer than this: a thousandth of the clip.
constexpr std::size_t kMostClippedRows = 128;
/// A margin so large that little would be left of a record's gradient: the batch is too large for single precision.
constexpr double kLargestMargin = 0.5;
/// With a metric norms are sums of squares in single precision, off by less than half a unit in the last place per term: those of a layer's inputs,
/// its bias, and what rounds a square and its product.
constexpr double kMetricClipMargin = 2e-4;
[[nodiscard]] constexpr double metric_clip_margin(std::size_t inputs) {
  const double rounding = static_cast<double>(inputs + 3) * 0x1p-24;
  return rounding > kMetricClipMargin ? rounding + kClipMargin : kMetricClipMargin;
}
/// The share of a clip that a number may lose, or gain, by being below the least normal float: at each of the additions of a piece.
constexpr double kUnderflowShare = 1.5e-9;

}  // namespace sfumato::lab
