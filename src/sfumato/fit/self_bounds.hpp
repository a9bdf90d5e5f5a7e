#pragma once

#include "sfumato/data/csv_records.hpp"
#include "sfumato/fit/fit_question.hpp"

namespace sfumato {

/// Ranges, levels and the number of rows as they are in the table itself: for trying things out. What is fitted with them has no guarantee.
/// `records` are those of the table, names first.
[[nodiscard]] PublicTable bounds_of_table(const FitQuestion& question, CsvRecords records);

}  // namespace sfumato
