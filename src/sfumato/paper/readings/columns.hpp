#pragma once

#include <string>
#include <vector>

#include "sfumato/paper/readings/search.hpp"
#include "sfumato/report/table.hpp"

namespace sfumato {

/// The simulated number of a reading as a table has it: its median, and where 95 % are.
[[nodiscard]] Cell centre_cell(const JudgedReading& judged, std::size_t number);
[[nodiscard]] Cell interval_cell(const JudgedReading& judged, std::size_t number);

/// One sentence: which reading the last column of a table is, and how far it is from the paper.
[[nodiscard]] std::string closest_text(const ReadingSearch& search);

}  // namespace sfumato
