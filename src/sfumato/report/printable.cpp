#include "sfumato/report/printable.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>

#include "sfumato/core/utf8.hpp"

namespace sfumato {
namespace {

bool is_control(std::uint32_t c) { return c < 0x20 || (c >= 0x7F && c < 0xA0); }

/// Marks and overrides of direction, and the line and paragraph separators.
bool is_layout(std::uint32_t c) {
  return c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

struct Range {
  std::uint32_t first, last;
};

constexpr std::array<Range, 6> kZeroWidth{{{0x0300, 0x036F},
                                           {0x1AB0, 0x1AFF},
                                           {0x1DC0, 0x1DFF},
                                           {0x200B, 0x200D},
                                           {0x20D0, 0x20FF},
                                           {0xFE00, 0xFE0F}}};
constexpr std::array<Range, 9> kDoubleWidth{{{0x1100, 0x115F},
                                             {0x2E80, 0x303E},
                                             {0x3041, 0xA4CF},
                                             {0xAC00, 0xD7A3},
                                             {0xF900, 0xFAFF},
                                             {0xFE30, 0xFE6F},
                                             {0xFF00, 0xFF60},
                                             {0x1F300, 0x1FAFF},
                                             {0x20000, 0x3FFFD}}};

template <std::size_t N>
bool contains(const std::array<Range, N>& ranges, std::uint32_t c) {
  for (const Range& range : ranges) {
    if (c >= range.first && c <= range.last) return true;
  }
  return false;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const CodePoint c = decode_utf8(text);
    const std::size_t length = c.length == 0 ? 1 : c.length;
    if (c.length == 0) {
      shown += "\uFFFD";
    } else if (c.value == '\n' || c.value == '\r' || c.value == '\t') {
      shown += ' ';
    } else if (is_control(c.value)) {
      shown += fmt::format("\\x{:02x}", c.value);
    } else if (is_layout(c.value)) {
      shown += fmt::format("\\u{{{:x}}}", c.value);
    } else {
      shown += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return shown;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const CodePoint c = decode_utf8(text);
    if (contains(kDoubleWidth, c.value)) {
      width += 2;
    } else if (!contains(kZeroWidth, c.value)) {
      width += 1;
    }
    text.remove_prefix(c.length == 0 ? 1 : c.length);
  }
  return width;
}

std::string pad_left(std::string_view text, std::size_t width) {
  const std::size_t used = display_width(text);
  return std::string(used < width ? width - used : 0, ' ') + std::string(text);
}

std::string pad_right(std::string_view text, std::size_t width) {
  const std::size_t used = display_width(text);
  return std::string(text) + std::string(used < width ? width - used : 0, ' ');
}

std::string wrap(std::string_view prefix, std::string_view text, std::size_t width) {
  const std::size_t indent = display_width(prefix);
  std::string lines(prefix);
  std::size_t column = indent;
  bool line_is_empty = true;
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
    if (word.empty()) continue;
    const std::size_t word_width = display_width(word);
    if (!line_is_empty && column + 1 + word_width > width) {
      lines += '\n';
      lines.append(indent, ' ');
      column = indent;
      line_is_empty = true;
    }
    if (!line_is_empty) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += word_width;
    line_is_empty = false;
  }
  return lines + "\n";
}

}  // namespace sfumato
