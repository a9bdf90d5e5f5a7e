#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sfumato/data/file_input.hpp"

namespace sfumato {

/// The content of gzip or xz data, told by its first bytes; anything else is taken as it is. Files of
/// several members or streams one after the other are one content, as gzip and xz have it.
///
/// Throws   InvalidArgument naming `source` if the data are damaged or truncated, something follows them,
///          or the content is larger than `limit`.
[[nodiscard]] std::string decompressed(std::string bytes, const std::string& source,
                                       std::uint64_t limit = kLargestFile);

}  // namespace sfumato
