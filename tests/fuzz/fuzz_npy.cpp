#include "fuzz_main.hpp"
#include "sfumato/data/npy.hpp"

using namespace sfumato;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz(data, size, [](std::string_view bytes) {
    const Array array = parse_npy(bytes, "f.npy");
    const Array again = parse_npy(npy_bytes(array), "g.npy");
    if (again.rank != array.rank || shape_text(again) != shape_text(array)) __builtin_trap();
    require_all_finite("f", array.values, Where::in("f.npy"));
    if (again.values != array.values) __builtin_trap();
  });
}
