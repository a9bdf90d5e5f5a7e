#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sfumato {

/// `text` with control characters and bytes that are not UTF-8 escaped as \xNN.
[[nodiscard]] std::string escaped(std::string_view text);

/// A piece of a user's file as a message shows it: in double quotes, control characters and bytes
/// that are not UTF-8 escaped, shortened to about 40 characters.
[[nodiscard]] std::string shown(std::string_view text);

/// Whether `text` is well-formed UTF-8. Names must be: they end up in JSON.
[[nodiscard]] bool is_utf8(std::string_view text);

/// `text` without spaces and tabs at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);

enum class NumberStatus { ok, not_a_number, out_of_range };

struct ParsedNumber {
  double value = 0.0;
  NumberStatus status = NumberStatus::not_a_number;
};

/// A decimal number, independent of the locale: optional sign, digits with at most one `decimal`
/// mark, optional exponent, and nothing else, 10,000 characters at most. "inf", "nan" and hexadecimals are not numbers here;
/// what rounds to infinity or, without being zero, to zero is out of range.
[[nodiscard]] ParsedNumber parse_number(std::string_view text, char decimal = '.');

}  // namespace sfumato
