#include "sfumato/data/compression.hpp"

#include <fmt/format.h>
#include <lzma.h>
#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <utility>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

/// zlib counts in unsigned int.
constexpr std::size_t kLargestStep = std::size_t{1} << 30;

/// Decoding needs less than 100 MiB even for the strongest presets of xz.
constexpr std::uint64_t kLargestMemory = std::uint64_t{1} << 30;

[[noreturn]] void damaged(const std::string& source, const char* format, const char* how) {
  throw InvalidArgument(fmt::format("is damaged {} data: {}", format, how),
                        "Copy or fetch the file again", Where::in(source));
}

/// The output of a decoder, growing as needed. One byte more than the limit is room enough to notice
/// that the content is larger.
class Output {
 public:
  Output(std::size_t first_size, const std::string& source, std::uint64_t limit)
      : source_(source), limit_(limit) {
    bytes_.resize(static_cast<std::size_t>(std::clamp<std::uint64_t>(first_size, 1, limit_ + 1)));
  }

  [[nodiscard]] unsigned char* next() {
    return reinterpret_cast<unsigned char*>(bytes_.data() + used_);
  }
  [[nodiscard]] std::size_t room() const { return bytes_.size() - used_; }

  void advance(std::size_t count) {
    used_ += count;
    if (used_ > limit_) {
      throw InvalidArgument(fmt::format("holds more than {} bytes when decompressed", limit_),
                            "Check that this is the right file", Where::in(source_));
    }
    if (room() == 0) {
      bytes_.resize(
          static_cast<std::size_t>(std::min<std::uint64_t>(2 * bytes_.size(), limit_ + 1)));
    }
  }

  std::string take() {
    bytes_.resize(used_);
    return std::move(bytes_);
  }

 private:
  const std::string& source_;
  std::uint64_t limit_;
  std::string bytes_;
  std::size_t used_ = 0;
};

class Inflater {
 public:
  Inflater() {
    // 16: the header and checksum of gzip.
    if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) throw InternalError("zlib cannot start");
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream); }

  z_stream stream = {};
};

std::string gunzip(std::string_view packed, const std::string& source, std::uint64_t limit) {
  Inflater inflater;
  z_stream& stream = inflater.stream;
  Output output(4 * packed.size(), source, limit);
  std::size_t read = 0;
  for (;;) {
    const std::size_t in = std::min(packed.size() - read, kLargestStep);
    const std::size_t room = std::min(output.room(), kLargestStep);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + read));
    stream.avail_in = static_cast<uInt>(in);
    stream.next_out = output.next();
    stream.avail_out = static_cast<uInt>(room);
    const int state = inflate(&stream, Z_NO_FLUSH);
    read += in - stream.avail_in;
    output.advance(room - stream.avail_out);
    if (state == Z_STREAM_END) {
      if (read == packed.size()) return output.take();
      if (inflateReset(&stream) != Z_OK) throw InternalError("zlib cannot start again");
    } else if (state == Z_BUF_ERROR) {  // no progress: output always has room
      damaged(source, "gzip", "it is truncated");
    } else if (state == Z_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (state != Z_OK) {
      damaged(source, "gzip", stream.msg != nullptr ? stream.msg : "it cannot be decoded");
    }
  }
}

class XzDecoder {
 public:
  XzDecoder() {
    if (lzma_stream_decoder(&stream, kLargestMemory, LZMA_CONCATENATED) != LZMA_OK) {
      throw InternalError("liblzma cannot start");
    }
  }
  XzDecoder(const XzDecoder&) = delete;
  XzDecoder& operator=(const XzDecoder&) = delete;
  ~XzDecoder() { lzma_end(&stream); }

  lzma_stream stream = LZMA_STREAM_INIT;
};

const char* reason_of(lzma_ret state) {
  switch (state) {
    case LZMA_BUF_ERROR: return "it is truncated";
    case LZMA_DATA_ERROR: return "a checksum does not fit or the data make no sense";
    case LZMA_FORMAT_ERROR: return "something that is not xz follows";
    case LZMA_OPTIONS_ERROR: return "it uses a filter that this liblzma lacks";
    case LZMA_MEMLIMIT_ERROR: return "decoding would take more than 1 GiB of memory";
    default: return "it cannot be decoded";
  }
}

std::string unxz(std::string_view packed, const std::string& source, std::uint64_t limit) {
  XzDecoder decoder;
  lzma_stream& stream = decoder.stream;
  Output output(2 * packed.size(), source, limit);
  stream.next_in = reinterpret_cast<const std::uint8_t*>(packed.data());
  stream.avail_in = packed.size();
  for (;;) {
    const std::size_t room = output.room();
    stream.next_out = output.next();
    stream.avail_out = room;
    const lzma_ret state = lzma_code(&stream, LZMA_FINISH);
    output.advance(room - stream.avail_out);
    if (state == LZMA_STREAM_END) return output.take();
    if (state == LZMA_MEM_ERROR) throw std::bad_alloc();
    if (state != LZMA_OK) damaged(source, "xz", reason_of(state));
  }
}

}  // namespace

std::string decompressed(std::string bytes, const std::string& source, std::uint64_t limit) {
  using namespace std::string_view_literals;
  if (bytes.starts_with("\x1f\x8b"sv)) return gunzip(bytes, source, limit);
  if (bytes.starts_with("\xfd"
                        "7zXZ\0"sv)) {
    return unxz(bytes, source, limit);
  }
  if (bytes.size() > limit) {
    throw InvalidArgument(fmt::format("holds more than {} bytes", limit),
                          "Check that this is the right file", Where::in(source));
  }
  return bytes;
}

}  // namespace sfumato
