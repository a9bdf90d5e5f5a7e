#include "sfumato/data/toml_unicode.hpp"

#include <cstddef>

#include "sfumato/core/error.hpp"
#include "sfumato/data/text.hpp"

namespace sfumato {
namespace {

constexpr char kPlaneByte = '\xF4';  // the first byte of U+100000 to U+10FFFF, and of nothing else
constexpr std::string_view kPlaneEscape = "\\U0010";

/// The bits that continuation byte `i` carries.
unsigned bits(std::string_view character, std::size_t i) {
  return static_cast<unsigned char>(character[i]) & 0x3Fu;
}

char continuation(unsigned code) { return static_cast<char>(0x80u | (code & 0x3Fu)); }

[[noreturn]] void refuse(const char* problem, const char* remedy, const std::string& source,
                         std::string_view before) {
  std::size_t line = 1, column = 1;
  for (const char c : before) {
    if (c == '\n') {
      ++line;
      column = 1;
    } else if ((static_cast<unsigned char>(c) & 0xC0u) != 0x80u) {
      ++column;
    }
  }
  throw InvalidArgument(problem, remedy, Where::at(source, line, column));
}

}  // namespace

std::string lifted(std::string_view text, const std::string& source) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    const std::size_t length = character_length(rest);
    if (length == 0)
      refuse("this is not UTF-8", "Save the file as UTF-8", source, text.substr(0, at));
    if (rest.front() == kPlaneByte || rest.starts_with(kPlaneEscape)) {
      refuse("a private-use character stands here", "Leave it out", source, text.substr(0, at));
    }
    if (length == 2 || length == 3) {
      const auto first = static_cast<unsigned char>(rest.front());
      const unsigned code = length == 2
                                ? (first & 0x1Fu) << 6u | bits(rest, 1)
                                : (first & 0x0Fu) << 12u | bits(rest, 1) << 6u | bits(rest, 2);
      result +=
          {kPlaneByte, continuation(code >> 12u), continuation(code >> 6u), continuation(code)};
    } else {
      result += rest.substr(0, length);
    }
    at += length;
  }
  return result;
}

std::string lowered(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    if (text.front() != kPlaneByte || character_length(text) != 4) {
      result += text.front();
      text.remove_prefix(1);
      continue;
    }
    const unsigned code = bits(text, 1) << 12u | bits(text, 2) << 6u | bits(text, 3);
    if (code < 0x800) {
      result += {static_cast<char>(0xC0u | code >> 6u), continuation(code)};
    } else {
      result +=
          {static_cast<char>(0xE0u | code >> 12u), continuation(code >> 6u), continuation(code)};
    }
    text.remove_prefix(4);
  }
  return result;
}

}  // namespace sfumato
