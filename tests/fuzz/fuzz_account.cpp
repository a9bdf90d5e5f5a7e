#include "fuzz_files.hpp"
#include "fuzz_main.hpp"
#include "sfumato/account/state.hpp"

using namespace sfumato;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto read = [](const std::string& text) {
    try {
      const SavedAccount account = load_account(text, "a.toml");
      // What was read says as much when it is written and read again.
      const SavedAccount again = load_account(save(account), "b.toml");
      if (again.models != account.models) __builtin_trap();
    } catch (const NumericalFailure&) {  // releases that no epsilon can be given for
    }
  };
  fuzz(data, size,
       [](std::string_view bytes) { require_whole_account(file_with(bytes, ".toml")); });
  fuzz(data, size, [&](std::string_view bytes) { read(std::string(bytes)); });
  return fuzz(data, size,
              [&](std::string_view bytes) { read(with_right_digest(std::string(bytes))); });
}
