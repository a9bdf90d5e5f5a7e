#include <cmath>

#include "fuzz_main.hpp"
#include "sfumato/data/toml.hpp"

using namespace sfumato;

namespace {

/// Whether the accessor takes the value; refusals are checked by fuzz() too.
template <class Accessor>
bool accepts(const Accessor& accessor) {
  try {
    accessor();
    return true;
  } catch (const InvalidArgument&) {
    return false;
  }
}

/// Every accessor on every key. Strings are not tried as arrays: they would name files.
void visit(const TomlTable& table) {
  for (const std::string& key : table.keys()) {
    if (!table.has(key) || table.where(key).text().empty()) __builtin_trap();
    accepts([&] {
      if (std::isnan(table.number(key))) __builtin_trap();
    });
    accepts([&] { (void)table.integer(key); });
    accepts([&] { (void)table.boolean(key); });
    accepts([&] {
      if (table.numbers(key).empty()) __builtin_trap();
    });
    if (!accepts([&] { (void)table.string(key); })) {
      accepts([&] {
        if (!table.array(key).values.allFinite()) __builtin_trap();
      });
      accepts([&] { (void)table.covariance(key, 2); });
    }
    if (accepts([&] { (void)table.table(key); })) visit(table.table(key));
  }
  accepts([&] { table.reject_unknown({"times", "epsilons", "Sigma"}); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz(data, size, [](std::string_view text) { visit(TomlTable::parse(text, "f.toml")); });
}
