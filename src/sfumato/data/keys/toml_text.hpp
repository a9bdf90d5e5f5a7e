#pragma once

#include <string>
#include <string_view>

namespace sfumato {

/// Values as TOML writes them; numbers with all their digits.
[[nodiscard]] std::string toml_text(std::string_view text);
[[nodiscard]] std::string toml_text(double number);

/// The path from the root of the file system, without `.` and `..`.
[[nodiscard]] std::string absolute_path(const std::string& path);

}  // namespace sfumato
