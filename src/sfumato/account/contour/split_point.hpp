#pragma once

#include <cmath>
#include <numbers>

namespace sfumato {

/// A smooth cut between the unsampled part of a distribution and its sampled steps (Spec §18.5): Phi((z - at) / width) of z belongs to a sampled step.
struct SplitPoint {
  double at, width;

  [[nodiscard]] double sampled(double z) const {
    return 0.5 * std::erfc((at - z) / (width * std::numbers::sqrt2));
  }
  [[nodiscard]] double unsampled(double z) const {
    return 0.5 * std::erfc((z - at) / (width * std::numbers::sqrt2));
  }
  /// 1 + 1 / width^2: by how much more a shift of the line costs than without the cut.
  [[nodiscard]] double spread() const { return 1.0 + 1.0 / (width * width); }
};

}  // namespace sfumato
