#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sfumato {

struct ZipEntry {
  std::string name;
  std::string bytes;
};

enum class Compression { stored, deflated };

/// The entries of a ZIP archive, stored or deflated, found through its central directory.
///
/// Throws   InvalidArgument if the archive is damaged, encrypted, split, larger than 4 GiB (ZIP64), uses
///          another compression, repeats a name, or claims more than `limit` bytes in all.
[[nodiscard]] std::vector<ZipEntry> parse_zip(std::string_view archive, const std::string& source,
                                              std::uint64_t limit);

/// The archive of these entries; the same entries give the same bytes (no clock, no host).
/// Throws   InvalidArgument if it would need ZIP64.
[[nodiscard]] std::string zip_bytes(const std::vector<ZipEntry>& entries, Compression compression);

}  // namespace sfumato
