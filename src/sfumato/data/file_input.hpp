#pragma once

#include <cstdint>
#include <string>

namespace sfumato {

/// Larger files are refused: they are not tables or matrices that fit in memory.
inline constexpr std::uint64_t kLargestFile = std::uint64_t{4} << 30;

/// The bytes of a file (or of a pipe, until it ends).
///
/// Throws   InvalidArgument if the file is missing, a directory, not readable or larger than
///          `limit`; StorageError if the system fails while reading.
[[nodiscard]] std::string read_file(const std::string& path, std::uint64_t limit = kLargestFile);

}  // namespace sfumato
