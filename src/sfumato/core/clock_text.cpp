#include "sfumato/core/clock_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace sfumato {

std::string clock_text(double seconds) {
  const auto total = static_cast<std::uint64_t>(std::llround(std::min(seconds, 1e9)));
  const std::uint64_t hours = total / 3600, minutes = total / 60 % 60, rest = total % 60;
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, rest);
  return fmt::format("{}:{:02}", minutes, rest);
}

}  // namespace sfumato
