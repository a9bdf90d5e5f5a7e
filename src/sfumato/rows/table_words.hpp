#pragma once

#include "sfumato/report/document.hpp"
#include "sfumato/rows/rows_answer.hpp"

namespace sfumato {

/// Adds how the columns of the file became numbers: categories with their reference levels, booleans.
void add_columns_read(Document& document, const RowsAnswer& answer);

/// Adds what the analyst should know of the table before reading risks: values that were made up, columns of very
/// different units.
void add_table_warnings(Document& document, const RowsAnswer& answer);

}  // namespace sfumato
