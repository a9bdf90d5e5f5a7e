#include "sfumato/report/claimed_text.hpp"

#include <fmt/format.h>

namespace sfumato {

std::string claimed_text(const Claimed<double>& claimed, NumberStyle style) {
  return fmt::format("{} {}", symbol(claimed.claim), format_claimed(claimed, style));
}

std::string claimed_text(const Claimed<Epsilon>& claimed) {
  return claimed_text(map(claimed, [](Epsilon epsilon) { return epsilon.nats(); }));
}

}  // namespace sfumato
