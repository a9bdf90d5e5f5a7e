#include <fmt/format.h>
#include <zlib.h>

#include <cstddef>

#include "sfumato/core/error.hpp"
#include "sfumato/data/zip.hpp"

namespace sfumato {
namespace {

constexpr std::size_t kLargestSize = 0xFFFFFFFE;  // one more announces ZIP64
constexpr std::size_t kMostEntries = 0xFFFE;

void append(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i, value >>= 8u) out += static_cast<char>(value & 0xFFu);
}

void require_room(bool fits) {
  if (fits) return;
  throw InvalidArgument("the arrays do not fit in an archive of 4 GiB",
                        "Write them one by one as NPY", Where::here("zip_bytes"));
}

std::string deflated(const std::string& bytes) {
  z_stream stream = {};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    throw InternalError("zlib cannot start");
  }
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  require_room(out.size() <= kLargestSize);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int state = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (state != Z_STREAM_END) throw InternalError("zlib left data uncompressed");
  return out;
}

/// The fields that local and central record have in common, from "version needed" to "extra size".
std::string common_fields(const ZipEntry& entry, std::size_t packed_size, std::uint16_t method) {
  constexpr std::uint64_t kVersion = 20, kUtf8Names = 0x0800, kMidnight = 0, kFirstOf1980 = 0x21;
  std::string fields;
  append(fields, kVersion, 2);
  append(fields, kUtf8Names, 2);
  append(fields, method, 2);
  append(fields, kMidnight, 2);
  append(fields, kFirstOf1980, 2);
  append(fields, crc32_z(0, reinterpret_cast<const Bytef*>(entry.bytes.data()), entry.bytes.size()),
         4);
  append(fields, packed_size, 4);
  append(fields, entry.bytes.size(), 4);
  append(fields, entry.name.size(), 2);
  append(fields, 0, 2);
  return fields;
}

}  // namespace

std::string zip_bytes(const std::vector<ZipEntry>& entries, Compression compression) {
  require_room(entries.size() <= kMostEntries);
  std::string archive, directory;
  for (const ZipEntry& entry : entries) {
    require_room(entry.bytes.size() <= kLargestSize && entry.name.size() <= 0xFFFF);
    const bool pack = compression == Compression::deflated;
    const std::string packed = pack ? deflated(entry.bytes) : entry.bytes;
    const std::string fields =
        common_fields(entry, packed.size(), pack ? kZipDeflated : kZipStored);
    const std::size_t local = archive.size();
    require_room(local <= kLargestSize);
    append(archive, kZipLocalSignature, 4);
    archive += fields;
    archive += entry.name;
    archive += packed;

    append(directory, kZipCentralSignature, 4);
    append(directory, 20, 2);  // made by: version 2.0, no particular host
    directory += fields;
    append(directory, 0, 2 + 2 + 2 + 4);  // comment, disk, attributes
    append(directory, local, 4);
    directory += entry.name;
  }
  const std::size_t start = archive.size();
  require_room(start <= kLargestSize && directory.size() <= kLargestSize);
  archive += directory;
  append(archive, kZipEndSignature, 4);
  append(archive, 0, 4);
  append(archive, entries.size(), 2);
  append(archive, entries.size(), 2);
  append(archive, directory.size(), 4);
  append(archive, start, 4);
  append(archive, 0, 2);
  return archive;
}

}  // namespace sfumato
