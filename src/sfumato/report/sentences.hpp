#pragma once

#include <string>
#include <string_view>

#include "sfumato/core/claim.hpp"
#include "sfumato/core/units.hpp"
#include "sfumato/report/sentence.hpp"

namespace sfumato {

/// Facts that several commands state, each worded and rounded once.

/// "at most 75.1 %": in how many guesses whether a record was used the best attacker is right, 50 (1 + advantage) %.
/// Three digits, rounded towards the claim, at most 100.
[[nodiscard]] Text right_of(const Claimed<double>& advantage);
/// The same digits without what they claim, where the sentence says it: "75.1 %".
[[nodiscard]] Percent percent_right(const Claimed<double>& advantage);
/// A share of correct guesses as such a percentage.
[[nodiscard]] Percent percent_of(const Claimed<double>& share);

/// "4.48": by which factor the odds that a record was used can change, e^epsilon to three digits, rounded towards the
/// claim.
[[nodiscard]] std::string odds_factor(const Claimed<Epsilon>& epsilon);

/// What a share of correct guesses is compared with: "A coin toss is right 50 % of the time."
[[nodiscard]] Text coin_toss();

/// What closes a document about one pair or one table: "Risks of this one pair, not a differential-privacy guarantee."
[[nodiscard]] Text not_a_guarantee(std::string_view what);

}  // namespace sfumato
