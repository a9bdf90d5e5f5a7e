#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <unordered_set>

#include "sfumato/core/error.hpp"
#include "sfumato/data/text.hpp"
#include "sfumato/data/zip.hpp"
#include "sfumato/data/zip_format.hpp"

namespace sfumato {
namespace {

/// Deflate cannot shrink data by more than this factor; a claim beyond it is false.
constexpr std::uint64_t kLargestRatio = 1032;

/// zlib counts in unsigned int.
constexpr std::size_t kLargestStep = std::size_t{1} << 30;

class ZipReader {
 public:
  ZipReader(std::string_view archive, const std::string& source, std::uint64_t limit)
      : archive_(archive), source_(source), limit_(limit) {}

  std::vector<ZipEntry> read() {
    const std::size_t end = find_end();
    const std::uint64_t count = u16(end + 10);
    const std::uint64_t directory_size = u32(end + 12);
    const std::uint64_t directory = u32(end + 16);
    if (u16(end + 4) != 0 || u16(end + 6) != 0 || u16(end + 8) != count) {
      refuse("is one part of a split archive", "Give the whole archive");
    }
    if (count == 0xFFFF || directory == 0xFFFFFFFF || directory_size == 0xFFFFFFFF) refuse_zip64();
    if (directory + directory_size > end) damaged("its directory lies outside the file");
    std::vector<ZipEntry> entries;
    std::unordered_set<std::string> names;
    std::size_t at = static_cast<std::size_t>(directory);
    for (std::uint64_t i = 0; i < count; ++i) {
      entries.push_back(entry(at));
      if (!names.insert(entries.back().name).second) {
        damaged(fmt::format("the name {} occurs twice", shown(entries.back().name)));
      }
    }
    return entries;
  }

 private:
  [[noreturn]] void refuse(const std::string& problem, const std::string& remedy) const {
    throw InvalidArgument(problem, remedy, Where::in(source_));
  }
  [[noreturn]] void damaged(const std::string& how) const {
    refuse(fmt::format("is a damaged archive: {}", how), "Copy or write the file again");
  }
  [[noreturn]] void refuse_zip64() const {
    refuse("is a ZIP64 archive, which is not supported", "Keep archives below 4 GiB");
  }

  /// Bytes [at, at + size), or the error that the file ends before them.
  [[nodiscard]] std::string_view bytes(std::uint64_t at, std::uint64_t size) const {
    if (at > archive_.size() || size > archive_.size() - at) damaged("it is truncated");
    return archive_.substr(static_cast<std::size_t>(at), static_cast<std::size_t>(size));
  }
  [[nodiscard]] std::uint32_t u32(std::uint64_t at) const {
    const std::string_view b = bytes(at, 4);
    std::uint32_t value = 0;
    for (std::size_t i = 4; i-- > 0;) value = value << 8u | static_cast<unsigned char>(b[i]);
    return value;
  }
  [[nodiscard]] std::uint32_t u16(std::uint64_t at) const {
    const std::string_view b = bytes(at, 2);
    return static_cast<unsigned char>(b[0]) |
           static_cast<std::uint32_t>(static_cast<unsigned char>(b[1])) << 8u;
  }

  /// The end record is last but for a comment of at most 64 KiB.
  [[nodiscard]] std::size_t find_end() const {
    if (archive_.size() >= 4 && u32(0) != kZipLocalSignature && u32(0) != kZipEndSignature) {
      refuse("is not a ZIP archive: it does not begin with PK", "Write it with numpy.savez");
    }
    if (archive_.size() < kZipEndSize) damaged("it is truncated");
    const std::size_t last = archive_.size() - kZipEndSize;
    const std::size_t first = last - std::min<std::size_t>(last, 0xFFFF);
    for (std::size_t at = last + 1; at-- > first;) {
      if (u32(at) == kZipEndSignature && at + kZipEndSize + u16(at + 20) == archive_.size()) {
        return at;
      }
    }
    damaged("it is truncated (no end record)");
  }

  /// The entry whose central record is at `at`, which moves to the next record. Sizes and checksum
  /// come from here: the local record may leave them to a data descriptor.
  ZipEntry entry(std::size_t& at) {
    if (u32(at) != kZipCentralSignature) damaged("a directory record is missing");
    const std::uint32_t flags = u16(at + 8), method = u16(at + 10), checksum = u32(at + 16);
    const std::uint64_t packed_size = u32(at + 20), size = u32(at + 24), local = u32(at + 42);
    const std::size_t name_size = u16(at + 28);
    ZipEntry result{std::string(bytes(at + kZipCentralSize, name_size)), {}};
    at += kZipCentralSize + name_size + u16(at + 30) + u16(at + 32);

    const std::string label = shown(result.name);
    if (packed_size == 0xFFFFFFFF || size == 0xFFFFFFFF || local == 0xFFFFFFFF) refuse_zip64();
    if ((flags & 1u) != 0)
      refuse(fmt::format("entry {} is encrypted", label), "Remove the password");
    if (u32(local) != kZipLocalSignature)
      damaged(fmt::format("entry {} is not where the directory says", label));
    const std::string_view packed =
        bytes(local + kZipLocalSize + u16(local + 26) + u16(local + 28), packed_size);
    if (size > limit_ - total_) {
      refuse(fmt::format("entry {} takes the archive beyond the limit of {} bytes", label, limit_),
             "Check that this is the right file");
    }
    total_ += size;
    if (method == kZipStored) {
      if (packed_size != size) damaged(fmt::format("entry {} has two sizes", label));
      result.bytes = packed;
    } else if (method == kZipDeflated) {
      if (size > packed_size * kLargestRatio)
        damaged(fmt::format("entry {} claims an impossible size", label));
      inflate_into(result.bytes, packed, static_cast<std::size_t>(size), label);
    } else {
      refuse(fmt::format("entry {} uses compression method {}", label, method),
             "Use numpy.savez or numpy.savez_compressed");
    }
    if (crc32_z(0, reinterpret_cast<const Bytef*>(result.bytes.data()), result.bytes.size()) !=
        checksum) {
      damaged(fmt::format("entry {} fails its checksum", label));
    }
    return result;
  }

  void inflate_into(std::string& out, std::string_view packed, std::size_t size,
                    const std::string& label) const {
    out.resize(size);
    z_stream stream = {};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw InternalError("zlib cannot start");
    std::size_t read = 0, written = 0;
    char beyond = 0;  // room to notice data beyond the claimed size, also when that is zero
    int state = Z_OK;
    while (state == Z_OK) {
      const std::size_t in = std::min(packed.size() - read, kLargestStep);
      const std::size_t room = std::min(size - written, kLargestStep);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + read));
      stream.avail_in = static_cast<uInt>(in);
      stream.next_out = reinterpret_cast<Bytef*>(room > 0 ? out.data() + written : &beyond);
      stream.avail_out = static_cast<uInt>(room > 0 ? room : 1);
      state = inflate(&stream, Z_NO_FLUSH);
      read += in - stream.avail_in;
      written += (room > 0 ? room : 1) - stream.avail_out;
      if (written > size) state = Z_DATA_ERROR;
    }
    inflateEnd(&stream);
    if (state != Z_STREAM_END || written != size || read != packed.size()) {
      damaged(fmt::format("entry {} cannot be decompressed to its {} bytes", label, size));
    }
  }

  std::string_view archive_;
  const std::string& source_;
  std::uint64_t limit_;
  std::uint64_t total_ = 0;
};

}  // namespace

std::vector<ZipEntry> parse_zip(std::string_view archive, const std::string& source,
                                std::uint64_t limit) {
  return ZipReader(archive, source, limit).read();
}

}  // namespace sfumato
