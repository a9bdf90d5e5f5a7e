#include "sfumato/report/sentences.hpp"

#include <algorithm>
#include <cmath>

#include "sfumato/report/number.hpp"

namespace sfumato {
namespace {

constexpr int kDigits = 3;  // 75.1 %: more would say more than a reader can use

/// A bound on an advantage may be above 1, which says nothing; nobody is right more than always.
Percent percent(double value, Claim claim) {
  return {format_number(std::clamp(value, 0.0, 100.0), rounding_of(claim), kDigits)};
}

}  // namespace

Text right_of(const Claimed<double>& advantage) {
  return say(advantage.claim == Claim::upper_bound ? "at most {}" : "{}", percent_right(advantage));
}

Percent percent_right(const Claimed<double>& advantage) {
  return percent(50.0 * (1.0 + advantage.value), advantage.claim);
}

Percent percent_of(const Claimed<double>& share) {
  return percent(100.0 * share.value, share.claim);
}

Text coin_toss() { return say("A coin toss is right {} of the time.", Percent{"50"}); }

std::string odds_factor(const Claimed<Epsilon>& epsilon) {
  return format_number(std::exp(epsilon.value.nats()), rounding_of(epsilon.claim), kDigits);
}

Text not_a_guarantee(std::string_view what) {
  return say("{}, not a differential-privacy guarantee.", std::string(what));
}

}  // namespace sfumato
