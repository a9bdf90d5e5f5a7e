#pragma once

#include <string>
#include <vector>

#include "sfumato/privacy/accounting/release.hpp"

namespace sfumato {

/// What was released before about the same records: of a model that `fit` wrote (JSON), or of a saved accountant (`account --save`, the
/// accounting.toml of `train --private`). Nothing for an empty path.
/// Throws   InvalidArgument if the file holds neither, or protects other neighbours.
[[nodiscard]] std::vector<PrivateRelease> releases_before(const std::string& path,
                                                          NeighbouringRelation relation);

}  // namespace sfumato
