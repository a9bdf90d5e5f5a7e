#include "sfumato/data/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <system_error>

#include "sfumato/core/utf8.hpp"

namespace sfumato {
namespace {

constexpr std::size_t kShownCharacters = 40;

/// A double written out in full has at most 1,077 characters.
constexpr std::size_t kLongestNumber = 10'000;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = decode_utf8(text).length;
    const auto first = static_cast<unsigned char>(text.front());
    if (length == 0 || first < 0x20 || first == 0x7F) {
      result += fmt::format("\\x{:02x}", first);
    } else {
      result += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result;
}

std::string shown(std::string_view text) {
  std::string quoted;
  std::size_t characters = 0;
  while (!text.empty()) {
    if (characters++ == kShownCharacters) {
      quoted += "...";
      break;
    }
    const std::size_t length = std::max<std::size_t>(decode_utf8(text).length, 1);
    if (text.front() == '"' || text.front() == '\\') quoted += '\\';
    quoted += escaped(text.substr(0, length));
    text.remove_prefix(length);
  }
  return fmt::format("\"{}\"", quoted);
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = decode_utf8(text).length;
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

ParsedNumber parse_number(std::string_view text, char decimal) {
  if (text.size() > kLongestNumber) return {};
  std::string with_point;
  if (decimal != '.') {
    if (text.find('.') != std::string_view::npos) return {};
    with_point = text;
    std::replace(with_point.begin(), with_point.end(), decimal, '.');
    text = with_point;
  }
  if (text.starts_with('+')) {  // std::from_chars knows only the minus sign
    text.remove_prefix(1);
    if (text.starts_with('-')) return {};
  }
  // The first character decides: std::from_chars would also take "inf" and "nan".
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  if (text.size() <= first || !(is_digit(text[first]) || text[first] == '.')) return {};
  ParsedNumber number;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number.value);
  if (stop != end || error == std::errc::invalid_argument) return {};
  number.status =
      error == std::errc::result_out_of_range ? NumberStatus::out_of_range : NumberStatus::ok;
  return number;
}

}  // namespace sfumato
