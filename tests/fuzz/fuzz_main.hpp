#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sfumato/core/error.hpp"

namespace sfumato {

/// Runs a reader on arbitrary bytes. It may refuse them as InvalidArgument, on one line; anything else
/// that escapes, InternalError included, ends the process and so is a finding.
template <class Reader>
int fuzz(const std::uint8_t* data, std::size_t size, Reader&& reader) {
  try {
    reader(std::string_view(reinterpret_cast<const char*>(data), size));
  } catch (const InvalidArgument& error) {
    for (const char* c = error.what(); *c != '\0'; ++c) {
      if (static_cast<unsigned char>(*c) < 0x20) __builtin_trap();
    }
  }
  return 0;
}

}  // namespace sfumato
