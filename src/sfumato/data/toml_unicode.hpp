#pragma once

#include <string>
#include <string_view>

namespace sfumato {

/// TOML text that keeps clear of a defect in toml++, and back.
///
/// While toml++ decides whether a character ends a value, it runs into undefined behaviour for some of
/// U+00A0 to U+FEFF (https://github.com/marzer/tomlplusplus/issues/190 and /295; Debian 12 has 3.3). It
/// is right about everything above. So every character from U+0080 to U+FFFF is moved up by 0x100000
/// into the last private-use plane before parsing, and down again in what the parser gives back. One
/// character stays one character: lines and columns do not change.
///
/// Throws   InvalidArgument with file:line:column if the text is not UTF-8 or already has characters of
///          that plane, as they are or escaped.
[[nodiscard]] std::string lifted(std::string_view text, const std::string& source);

/// The inverse, for strings, keys and messages of the parser.
[[nodiscard]] std::string lowered(std::string_view text);

}  // namespace sfumato
