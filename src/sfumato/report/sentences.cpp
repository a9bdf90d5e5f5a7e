#include "sfumato/report/sentences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sfumato/report/number.hpp"

namespace sfumato {
namespace {

constexpr int kDigits = 3;  // 75.1 %: more would say more than a reader can use

/// A bound on an advantage may be above 1, which says nothing; nobody is right more than always.
std::string percent(double value, Claim claim) {
  return format_number(std::clamp(value, 0.0, 100.0), rounding_of(claim), kDigits);
}

}  // namespace

std::string percent_right(const Claimed<double>& advantage) {
  return percent(50.0 * (1.0 + advantage.value), advantage.claim);
}

std::string share_right(const Claimed<double>& advantage) {
  return fmt::format("{}{} %", advantage.claim == Claim::upper_bound ? "at most " : "",
                     percent_right(advantage));
}

std::string percent_of(const Claimed<double>& share) {
  return percent(100.0 * share.value, share.claim);
}

std::string odds_factor(const Claimed<Epsilon>& epsilon) {
  return format_number(std::exp(epsilon.value.nats()), rounding_of(epsilon.claim), kDigits);
}

std::string not_a_guarantee(std::string_view what) {
  return fmt::format("{}, not a differential-privacy guarantee.", what);
}

}  // namespace sfumato
