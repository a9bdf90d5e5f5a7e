#pragma once

#include "sfumato/account/contour/total_loss.hpp"

namespace sfumato {

/// Two losses, below and above a given one, whose contours doubles can compute. delta grows with q, m, k and mu (Spec §20.5): steps with next to no noise
/// are between much less noise than matters and none at all, those with next to no signal between none and a little,
/// and more than kMergedKinds different steps between fewer of them, merged to either side (Spec §20.6).
struct ComputableBounds {
  TotalLoss lower, upper;
  bool is_exact;  ///< both are the loss itself
};
[[nodiscard]] ComputableBounds computable_bounds(const TotalLoss& loss);

}  // namespace sfumato
