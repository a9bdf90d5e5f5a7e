#pragma once

#include <string>
#include <string_view>

#include "sfumato/report/document.hpp"

namespace sfumato {

/// A claim as the page shows it: "=", "≤", "≥" or "~", with what it means as its title.
[[nodiscard]] std::string html_claim(Claim claim);

/// What a word of a column of verdicts comes to: holds, does not hold, depends; none for any other.
[[nodiscard]] Outcome outcome_of_word(std::string_view word);

/// A number with its claim, rounded towards it; every digit in `title` and `data-value`.
[[nodiscard]] std::string html_number(const Claimed<double>& claimed,
                                      NumberStyle style = NumberStyle::general);

/// One table with caption and notes. `id` is unique in the page, `number` ("2.1") that of the caption. A
/// folded table is opened by a click on its caption; long notes are folded in any case.
[[nodiscard]] std::string html_table(const Table& table, std::string_view id,
                                     std::string_view number, bool folded);

}  // namespace sfumato
