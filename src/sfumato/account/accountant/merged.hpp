#pragma once

#include <cstddef>
#include <vector>

#include "sfumato/account/steps/step.hpp"

namespace sfumato {

/// So many kinds of steps share the work of one contour (Work); more of them get more, in proportion.
inline constexpr std::size_t kMostKinds = 64;

/// So many are accounted for one by one, and more are merged to so many.
inline constexpr std::size_t kMergedKinds = 256;

/// Which side of the truth merged steps are on.
enum class Merge { up, down };

/// At most kMergedKinds steps in the place of more, near-equal ones together: each group by its largest q and m (or eps0), which dominates every
/// one of them, or by its smallest, which every one of them dominates (Spec §20.6). `steps` itself where there are no more than that.
/// Linear in the number of steps, up to the depth of a group.
[[nodiscard]] std::vector<StepLoss> merged(const std::vector<StepLoss>& steps, Merge side);

}  // namespace sfumato
