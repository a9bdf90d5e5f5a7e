#pragma once

#include <string_view>

#include "sfumato/answers/fit/question.hpp"

namespace sfumato {

/// Ranges, levels and the number of rows as they are in the table itself: for trying things out. What is fitted with them has no guarantee.
/// `text` is that of the table.
[[nodiscard]] PublicTable bounds_of_table(const FitQuestion& question, std::string_view text);

}  // namespace sfumato
