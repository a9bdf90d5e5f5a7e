#pragma once

#include "sfumato/report/document.hpp"
#include "sfumato/rows/rows_answer.hpp"

namespace sfumato {

/// Adds the bounds beside the simulated paths, and what they mean.
void add_checks(Document& document, const RowsAnswer& answer);

/// Adds what is wrong with the bounds, if anything is.
void add_check_verdict(Document& document, const RowsAnswer& answer);

}  // namespace sfumato
