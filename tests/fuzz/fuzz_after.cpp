#include "fuzz_files.hpp"
#include "fuzz_main.hpp"
#include "sfumato/account/spent.hpp"

using namespace sfumato;

/// A model of `fit` as `--after`. Its account stands in it as a text of its own, which fuzz_account reads.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz(data, size, [](std::string_view bytes) {
    const std::string path = file_with(bytes, ".json");
    try {
      if (spent_before(path, NeighbouringRelation::add_remove).releases.empty()) __builtin_trap();
    } catch (const NumericalFailure&) {
    }
    (void)fit_model_digest(std::string(bytes), path);
  });
}
