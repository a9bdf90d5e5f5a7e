#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sfumato {

/// The records of the ZIP format that reader and writer share (APPNOTE.TXT 4.3; integers are little
/// endian, sizes are those of the fixed part).
inline constexpr std::uint32_t kZipLocalSignature = 0x04034b50;
inline constexpr std::uint32_t kZipCentralSignature = 0x02014b50;
inline constexpr std::uint32_t kZipEndSignature = 0x06054b50;
inline constexpr std::size_t kZipLocalSize = 30;
inline constexpr std::size_t kZipCentralSize = 46;
inline constexpr std::size_t kZipEndSize = 22;
inline constexpr std::uint16_t kZipStored = 0;
inline constexpr std::uint16_t kZipDeflated = 8;

struct ZipEntry {
  std::string name;
  std::string bytes;
};

enum class Compression { stored, deflated };

/// One entry, as the directory of an archive has it.
struct ZipRecord {
  std::string name;
  std::uint64_t size = 0;  ///< of the content; the archive may claim it falsely
  std::uint32_t checksum = 0;
  bool deflated = false;
  std::string_view packed;  ///< the entry's bytes in the archive
};

/// A ZIP archive, stored or deflated, as its central directory describes it. Nothing is decompressed
/// before somebody asks for it.
class ZipArchive {
 public:
  /// Assumes  `archive` outlives this.
  /// Throws   InvalidArgument if the archive is damaged, encrypted, split, larger than 4 GiB (ZIP64), uses
  ///          another compression, repeats a name, has entries that overlap, or claims more than `limit`
  ///          bytes in all.
  ZipArchive(std::string_view archive, std::string source, std::uint64_t limit);

  [[nodiscard]] const std::vector<ZipRecord>& records() const { return records_; }

  /// The first bytes of an entry, `most` of them or all; no checksum says that they are right.
  /// Throws   InvalidArgument if they cannot be decompressed.
  [[nodiscard]] std::string head(const ZipRecord& record, std::size_t most) const;

  /// The content of an entry.
  /// Throws   InvalidArgument if it cannot be decompressed to its size or fails its checksum.
  [[nodiscard]] std::string content(const ZipRecord& record) const;

 private:
  std::string source_;
  std::vector<ZipRecord> records_;
};

/// The archive of these entries; the same entries give the same bytes (no clock, no host).
/// Throws   InvalidArgument if it would need ZIP64.
[[nodiscard]] std::string zip_bytes(const std::vector<ZipEntry>& entries, Compression compression);

}  // namespace sfumato
