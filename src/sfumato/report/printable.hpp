#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sfumato {

/// `text` made safe to show: control characters and bidirectional overrides (which could move the
/// cursor or hide a name) become escapes such as `\x1b` or `\u{202e}`, bytes that are not UTF-8
/// become U+FFFD. A line break or a tab becomes a space.
[[nodiscard]] std::string printable(std::string_view text);

/// Columns that UTF-8 `text` takes in a terminal: 0 for combining marks, 2 for the East Asian wide
/// and emoji blocks, 1 otherwise.
[[nodiscard]] std::size_t display_width(std::string_view text);

/// `text` filled with spaces to `width` columns, on the left or on the right.
[[nodiscard]] std::string pad_left(std::string_view text, std::size_t width);
[[nodiscard]] std::string pad_right(std::string_view text, std::size_t width);

/// `prefix` and the words of `text` in lines of at most `width` columns (a longer word stays
/// whole), each ended by a line break; lines after the first are indented by the prefix's width.
[[nodiscard]] std::string wrap(std::string_view prefix, std::string_view text, std::size_t width);

}  // namespace sfumato
