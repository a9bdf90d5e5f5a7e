#include "lab/audit/looks.hpp"

#include <algorithm>

namespace sfumato::lab {

Look look_at(const std::map<std::uint64_t, std::uint64_t>& looks, std::uint64_t trials,
             std::uint64_t planned, std::uint64_t least) {
  const auto same = std::find_if(looks.begin(), looks.end(),
                                 [&](const auto& look) { return look.second == trials; });
  Look look;
  if (same != looks.end() && same->first >= least) {
    look.number = same->first;
    look.is_new = false;
  } else {
    look.number = std::max(looks.empty() ? 1 : looks.rbegin()->first + 1, least);
  }
  look.splits = look.number > 1 || trials < planned;
  return look;
}

}  // namespace sfumato::lab
