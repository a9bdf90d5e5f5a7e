#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sfumato/core/units.hpp"

namespace sfumato {

/// What somebody says a training has: (epsilon, delta), to be checked.
struct ClaimedGuarantee {
  Epsilon epsilon;
  Delta delta;
  friend auto operator<=>(const ClaimedGuarantee&, const ClaimedGuarantee&) = default;
};

/// "eps=1.0,delta=1e-5", in either order; epsilon finite and >= 0, delta in [0, 1), 1e-5 if left out. Nothing
/// for any other text.
[[nodiscard]] std::optional<ClaimedGuarantee> parse_guarantee(std::string_view text);

/// The same as text, all digits kept.
[[nodiscard]] std::string guarantee_text(const ClaimedGuarantee& claim);

}  // namespace sfumato
