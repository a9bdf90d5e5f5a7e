#include "sfumato/study/looks.hpp"

#include <algorithm>

namespace sfumato {

Look look_at(const std::vector<std::uint64_t>& looks, std::uint64_t trials, std::uint64_t planned) {
  const auto same = std::find(looks.begin(), looks.end(), trials);
  Look look;
  look.number = static_cast<std::uint64_t>(same - looks.begin()) + 1;
  look.is_new = same == looks.end();
  look.splits = look.number > 1 || trials < planned;
  return look;
}

}  // namespace sfumato
