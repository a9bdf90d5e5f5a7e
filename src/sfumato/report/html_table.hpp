#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sfumato/report/table.hpp"

namespace sfumato {

/// A claim as the page shows it: "=", "≤", "≥" or "~", with what it means as its title.
[[nodiscard]] std::string html_claim(Claim claim);

/// A number with its claim, rounded towards it; every digit in `title` and `data-value`.
[[nodiscard]] std::string html_number(const Claimed<double>& claimed,
                                      NumberStyle style = NumberStyle::general);

/// One table with caption and notes. `id` is unique in the page, `number` that of the caption.
[[nodiscard]] std::string html_table(const Table& table, std::string_view id, std::size_t number);

}  // namespace sfumato
