#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <unordered_set>
#include <utility>

#include "sfumato/core/error.hpp"
#include "sfumato/data/text.hpp"
#include "sfumato/data/zip.hpp"

namespace sfumato {
namespace {

/// Deflate cannot shrink data by more than this factor; a claim beyond it is false.
constexpr std::uint64_t kLargestRatio = 1032;

/// zlib counts in unsigned int.
constexpr std::size_t kLargestStep = std::size_t{1} << 30;

[[noreturn]] void refuse(const std::string& source, const std::string& problem,
                         const std::string& remedy) {
  throw InvalidArgument(problem, remedy, Where::in(source));
}
[[noreturn]] void damaged(const std::string& source, const std::string& how) {
  refuse(source, fmt::format("is a damaged archive: {}", how), "Copy or write the file again");
}

/// Reads the central directory.
class DirectoryReader {
 public:
  DirectoryReader(std::string_view archive, const std::string& source, std::uint64_t limit)
      : archive_(archive), source_(source), limit_(limit) {}

  std::vector<ZipRecord> read() {
    const std::size_t end = find_end();
    const std::uint64_t count = u16(end + 10);
    const std::uint64_t directory_size = u32(end + 12);
    const std::uint64_t directory = u32(end + 16);
    if (u16(end + 4) != 0 || u16(end + 6) != 0 || u16(end + 8) != count) {
      refuse(source_, "is one part of a split archive", "Give the whole archive");
    }
    if (count == 0xFFFF || directory == 0xFFFFFFFF || directory_size == 0xFFFFFFFF) refuse_zip64();
    if (directory + directory_size > end) damaged(source_, "its directory lies outside the file");
    std::vector<ZipRecord> records;
    std::unordered_set<std::string> names;
    std::size_t at = static_cast<std::size_t>(directory);
    for (std::uint64_t i = 0; i < count; ++i) {
      records.push_back(record(at));
      if (!names.insert(records.back().name).second) {
        damaged(source_, fmt::format("the name {} occurs twice", shown(records.back().name)));
      }
    }
    require_apart(directory);
    return records;
  }

 private:
  [[noreturn]] void refuse_zip64() const {
    refuse(source_, "is a ZIP64 archive, which is not supported", "Keep archives below 4 GiB");
  }

  /// Bytes [at, at + size), or the error that the file ends before them.
  [[nodiscard]] std::string_view bytes(std::uint64_t at, std::uint64_t size) const {
    if (at > archive_.size() || size > archive_.size() - at) damaged(source_, "it is truncated");
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
      refuse(source_, "is not a ZIP archive: it does not begin with PK",
             "Write it with numpy.savez");
    }
    if (archive_.size() < kZipEndSize) damaged(source_, "it is truncated");
    const std::size_t last = archive_.size() - kZipEndSize;
    const std::size_t first = last - std::min<std::size_t>(last, 0xFFFF);
    for (std::size_t at = last + 1; at-- > first;) {
      if (u32(at) == kZipEndSignature && at + kZipEndSize + u16(at + 20) == archive_.size()) {
        return at;
      }
    }
    damaged(source_, "it is truncated (no end record)");
  }

  /// The entry whose central record is at `at`, which moves to the next record. Sizes and checksum
  /// come from here: the local record may leave them to a data descriptor.
  ZipRecord record(std::size_t& at) {
    if (u32(at) != kZipCentralSignature) damaged(source_, "a directory record is missing");
    const std::uint32_t flags = u16(at + 8), method = u16(at + 10);
    const std::uint64_t packed_size = u32(at + 20), local = u32(at + 42);
    const std::size_t name_size = u16(at + 28);
    ZipRecord result{std::string(bytes(at + kZipCentralSize, name_size)),
                     u32(at + 24),
                     u32(at + 16),
                     method == kZipDeflated,
                     {}};
    at += kZipCentralSize + name_size + u16(at + 30) + u16(at + 32);

    const std::string label = shown(result.name);
    if (packed_size == 0xFFFFFFFF || result.size == 0xFFFFFFFF || local == 0xFFFFFFFF) {
      refuse_zip64();
    }
    if ((flags & 1u) != 0) {
      refuse(source_, fmt::format("entry {} is encrypted", label), "Remove the password");
    }
    if (u32(local) != kZipLocalSignature) {
      damaged(source_, fmt::format("entry {} is not where the directory says", label));
    }
    const std::uint64_t start = local + kZipLocalSize + u16(local + 26) + u16(local + 28);
    result.packed = bytes(start, packed_size);
    places_.emplace_back(local, start + packed_size);
    if (result.size > limit_ - total_) {
      refuse(source_,
             fmt::format("entry {} takes the archive beyond the limit of {} bytes", label, limit_),
             "Check that this is the right file");
    }
    total_ += result.size;
    if (method != kZipStored && method != kZipDeflated) {
      refuse(source_, fmt::format("entry {} uses compression method {}", label, method),
             "Use numpy.savez or numpy.savez_compressed");
    }
    if (method == kZipStored && packed_size != result.size) {
      damaged(source_, fmt::format("entry {} has two sizes", label));
    }
    if (method == kZipDeflated && result.size > packed_size * kLargestRatio) {
      damaged(source_, fmt::format("entry {} claims an impossible size", label));
    }
    return result;
  }

  /// No byte belongs to two entries, or to an entry and the directory: otherwise a small file could
  /// name the same bytes many times.
  void require_apart(std::uint64_t directory) {
    std::sort(places_.begin(), places_.end());
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const std::uint64_t next = i + 1 < places_.size() ? places_[i + 1].first : directory;
      if (places_[i].second > next) damaged(source_, "its entries overlap");
    }
  }

  std::string_view archive_;
  const std::string& source_;
  std::uint64_t limit_;
  std::uint64_t total_ = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> places_;  ///< where entries begin and end
};

[[noreturn]] void refuse_stream(const std::string& source, const ZipRecord& record) {
  damaged(source, fmt::format("entry {} cannot be decompressed to its {} bytes", shown(record.name),
                              record.size));
}

/// A zlib stream that is ended whatever happens.
struct Inflater {
  z_stream stream = {};
  Inflater() {
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw InternalError("zlib cannot start");
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream); }

  /// Reads from `in`, writes to `out`, and removes from both what was used. Returns zlib's state.
  int step(std::string_view& in, std::span<char>& out) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    stream.avail_in = static_cast<uInt>(std::min(in.size(), kLargestStep));
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(std::min(out.size(), kLargestStep));
    const int state = inflate(&stream, Z_NO_FLUSH);
    in.remove_prefix(static_cast<std::size_t>(reinterpret_cast<char*>(stream.next_in) - in.data()));
    out = out.subspan(
        static_cast<std::size_t>(reinterpret_cast<char*>(stream.next_out) - out.data()));
    return state;
  }
};

}  // namespace

ZipArchive::ZipArchive(std::string_view archive, std::string source, std::uint64_t limit)
    : source_(std::move(source)), records_(DirectoryReader(archive, source_, limit).read()) {}

std::string ZipArchive::head(const ZipRecord& record, std::size_t most) const {
  if (!record.deflated) return std::string(record.packed.substr(0, most));
  std::string out(static_cast<std::size_t>(std::min<std::uint64_t>(most, record.size)), '\0');
  Inflater inflater;
  std::string_view in = record.packed;
  std::span<char> room(out);
  int state = Z_OK;
  while (state == Z_OK && !room.empty()) state = inflater.step(in, room);
  if ((state != Z_OK && state != Z_STREAM_END) || !room.empty()) refuse_stream(source_, record);
  return out;
}

std::string ZipArchive::content(const ZipRecord& record) const {
  std::string out;
  if (record.deflated) {
    // One byte more, to notice data beyond the claimed size.
    out.resize(static_cast<std::size_t>(record.size) + 1);
    Inflater inflater;
    std::string_view in = record.packed;
    std::span<char> room(out);
    int state = Z_OK;
    while (state == Z_OK && !room.empty()) state = inflater.step(in, room);
    if (state != Z_STREAM_END || room.size() != 1 || !in.empty()) refuse_stream(source_, record);
    out.pop_back();
  } else {
    out = record.packed;
  }
  if (crc32_z(0, reinterpret_cast<const Bytef*>(out.data()), out.size()) != record.checksum) {
    damaged(source_, fmt::format("entry {} fails its checksum", shown(record.name)));
  }
  return out;
}

}  // namespace sfumato
