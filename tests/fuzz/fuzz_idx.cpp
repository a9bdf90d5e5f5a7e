#include "fuzz_main.hpp"
#include "lab/images/image_files.hpp"
#include "sfumato/data/compression.hpp"

using namespace sfumato;
using namespace sfumato::lab;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz(data, size, [](std::string_view bytes) {
    const IdxArray array =
        parse_idx(decompressed(std::string(bytes), "f.idx", std::uint64_t{1} << 20), "f.idx");
    std::size_t count = 1;
    for (const std::size_t length : array.shape) count *= length;
    if (count != array.values.size()) __builtin_trap();
  });
}
