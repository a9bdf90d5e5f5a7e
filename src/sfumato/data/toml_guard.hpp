#pragma once

#include <string>
#include <string_view>

namespace sfumato {

/// Refuses the non-ASCII characters that TOML does not allow: those outside strings and comments.
///
/// toml++ would refuse them too, but while deciding whether one is a space it runs into undefined
/// behaviour for some of them (https://github.com/marzer/tomlplusplus/issues/190, in Debian's 3.3). The
/// same code sees what follows a line-ending backslash in a multi-line string, so that a line which
/// continues such a string must begin with an ASCII character: stricter than TOML, but safe.
///
/// Throws   InvalidArgument with file:line:column.
void require_ascii_outside_strings(std::string_view text, const std::string& source);

}  // namespace sfumato
