#pragma once

#include "sfumato/answers/rows/answer.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato {

/// In brief the riskiest rows, each by its worse direction, and the median. In full both directions, quantiles, a
/// histogram and the checks as well.
[[nodiscard]] Document document_of(const RowsAnswer& answer, Detail detail);

}  // namespace sfumato
