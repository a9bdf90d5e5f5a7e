#pragma once

#include <string>
#include <string_view>

#include "sfumato/core/claim.hpp"
#include "sfumato/core/units.hpp"

namespace sfumato {

/// Facts that several commands state, each worded and rounded once.

/// "75.1": in how many of a hundred guesses whether a record was used the best attacker is right, 50 (1 + advantage).
/// Three digits, rounded towards the claim, at most 100.
[[nodiscard]] std::string percent_right(const Claimed<double>& advantage);
/// "at most 75.1 %": the same with what it claims.
[[nodiscard]] std::string share_right(const Claimed<double>& advantage);
/// The same of the share of correct guesses itself.
[[nodiscard]] std::string percent_of(const Claimed<double>& share);

/// "4.48": by which factor the odds that a record was used can change, e^epsilon to three digits, rounded towards the
/// claim.
[[nodiscard]] std::string odds_factor(const Claimed<Epsilon>& epsilon);

/// What a share of correct guesses is compared with.
inline constexpr std::string_view kCoinToss = "A coin toss is right 50 % of the time.";

/// What closes a document about one pair or one table: "Risks of this one pair, not a differential-privacy guarantee."
[[nodiscard]] std::string not_a_guarantee(std::string_view what);

}  // namespace sfumato
