#pragma once

#include <optional>
#include <vector>

#include "sfumato/account/accountant/release.hpp"
#include "sfumato/account/contour/contour.hpp"

namespace sfumato {

/// The total loss of the pair that dominates the releases, in one direction: the one with the records is P for
/// `remove`, Q for `add`. `replace` belongs to replace_one, the other two to the others (Spec §17, §19.4 to §19.6).
/// Throws   InvalidArgument as require_accountable().
[[nodiscard]] TotalLoss loss_of(const PrivateReleases& releases, StepDirection direction);

/// The directions of which a guarantee takes the worse one: remove and add, or replace.
[[nodiscard]] std::vector<StepDirection> directions_of(NeighbouringRelation relation);

/// Whether some mechanism of this description and some pair of data sets attain the pair, so that what is below its curve is
/// refuted and not only unproven.
[[nodiscard]] bool is_attained(const PrivateReleases& releases);

/// Releases that are attained by data of this description, for numbers from below: those themselves, or, where batches are cut, those on data whose other
/// records contribute nothing (Spec §19.8). Nothing where none are known.
[[nodiscard]] std::optional<PrivateReleases> attained_releases(const PrivateReleases& releases);

}  // namespace sfumato
