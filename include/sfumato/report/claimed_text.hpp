#pragma once

#include <string>

#include "sfumato/core/claim.hpp"
#include "sfumato/core/units.hpp"
#include "sfumato/report/number.hpp"

namespace sfumato {

/// A number with its symbol, rounded towards its claim: "<= 0.4761".
[[nodiscard]] std::string claimed_text(const Claimed<double>& claimed,
                                       NumberStyle style = NumberStyle::general);
[[nodiscard]] std::string claimed_text(const Claimed<Epsilon>& claimed);

}  // namespace sfumato
