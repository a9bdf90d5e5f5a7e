#include <algorithm>

#include "fuzz_main.hpp"
#include "sfumato/data/compression.hpp"
#include "support/compressed.hpp"

using namespace sfumato;

namespace {

constexpr std::uint64_t kLimit = std::uint64_t{1} << 20;

bool is_packed(std::string_view bytes) {
  return bytes.starts_with("\x1f\x8b") || bytes.starts_with(std::string_view("\xfd\x37zXZ\0", 6));
}

/// Arbitrary bytes: what is not packed is left as it is, what is packed keeps to the limit.
void check_bytes(std::string_view bytes) {
  const std::string content = decompressed(std::string(bytes), "f.gz", kLimit);
  if (content.size() > kLimit || (!is_packed(bytes) && content != bytes)) __builtin_trap();
}

/// Content that is packed and then damaged at one place: refused, or what was packed.
void check_damaged(std::string_view bytes, bool as_xz) {
  if (bytes.size() < 3) return;
  const std::string content(bytes.substr(3));
  std::string packed = as_xz ? xz(content) : gzip(content);
  if (decompressed(packed, "f", kLimit) != content) __builtin_trap();
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const std::size_t at = (256u * byte(0) + byte(1)) % packed.size();
  if (byte(2) == 0) {
    packed.resize(at);
  } else {
    packed[at] = static_cast<char>(static_cast<unsigned char>(packed[at]) ^ byte(2));
  }
  const std::string got = decompressed(packed, "f", kLimit);
  if (got != (is_packed(packed) ? content : packed)) __builtin_trap();
}

}  // namespace

/// The first byte chooses what the rest is.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  return fuzz(data + 1, size - 1, [&](std::string_view bytes) {
    if (data[0] % 4 < 2) {
      check_bytes(bytes);
    } else {
      check_damaged(bytes, data[0] % 4 == 3);
    }
  });
}
