#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sfumato {

struct CodePoint {
  std::uint32_t value;
  std::size_t length;  ///< bytes; 0 if the bytes are not UTF-8
};

/// The code point with which `text` (not empty) begins. Overlong forms, surrogates and values past
/// U+10FFFF are refused.
[[nodiscard]] CodePoint decode_utf8(std::string_view text);

}  // namespace sfumato
