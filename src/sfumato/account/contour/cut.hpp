#pragma once

#include <cmath>
#include <numbers>

namespace sfumato {

/// A smooth cut between the bulk of a law and its hits (Spec §18.5): Phi((z - at) / width) of z belongs to a hit.
struct Cut {
  double at, width;

  [[nodiscard]] double hit(double z) const {
    return 0.5 * std::erfc((at - z) / (width * std::numbers::sqrt2));
  }
  [[nodiscard]] double bulk(double z) const {
    return 0.5 * std::erfc((z - at) / (width * std::numbers::sqrt2));
  }
  /// 1 + 1 / width^2: by how much more a shift of the line costs than without the cut.
  [[nodiscard]] double spread() const { return 1.0 + 1.0 / (width * width); }
};

}  // namespace sfumato
