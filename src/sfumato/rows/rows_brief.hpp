#pragma once

#include "sfumato/report/document.hpp"
#include "sfumato/rows/rows_answer.hpp"

namespace sfumato {

/// Adds who is most exposed, the riskiest rows by their worse direction, what that rests on and how to see more.
void add_brief(Document& document, const RowsAnswer& answer);

/// The top of the page: what is released, who is most exposed, what the noise costs, what to do.
[[nodiscard]] Abstract abstract_of(const RowsAnswer& answer);

}  // namespace sfumato
