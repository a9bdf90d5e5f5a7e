#pragma once

#include <vector>

#include "sfumato/account/account_answer.hpp"

namespace sfumato {

/// Epsilon of parts of the run, and of the run done differently: where it comes from.
[[nodiscard]] std::vector<ExplainedPart> explained_parts(const AccountAnswer& answer,
                                                         const Observer& observer);

}  // namespace sfumato
