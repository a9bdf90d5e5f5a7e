#include "fuzz_main.hpp"
#include "sfumato/data/npz.hpp"

using namespace sfumato;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 22;
  return fuzz(data, size, [](std::string_view bytes) {
    const Arrays arrays = parse_npz(bytes, "f.npz", kLimit);
    NpzWriter writer;
    for (const auto& [name, array] : arrays) writer.add(name, array);
    if (parse_npz(writer.bytes(), "g.npz").size() != arrays.size()) __builtin_trap();
  });
}
