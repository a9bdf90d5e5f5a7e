#pragma once

#include <cstddef>
#include <vector>

#include "sfumato/rows/row_risk.hpp"

namespace sfumato {

/// The `count` computed rows of largest risk, or as many as there are: by advantage; rows that are
/// certain to be found are told apart by their KL.
[[nodiscard]] std::vector<const RowRisk*> riskiest(const std::vector<RowRisk>& risks,
                                                   std::size_t count);

}  // namespace sfumato
