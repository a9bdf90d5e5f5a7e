#pragma once

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace sfumato::testing {

/// How many of `all` random cases a property test looks at: a third of them, or one in `of` where each takes long; with SFUMATO_CASES=full
/// (`make properties`) all.
inline std::uint64_t cases(std::uint64_t all, std::uint64_t of = 3) {
  const char* wanted = std::getenv("SFUMATO_CASES");
  return wanted != nullptr && std::string_view(wanted) == "full" ? all : (all + of - 1) / of;
}

}  // namespace sfumato::testing
