#include "sfumato/report/number.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

constexpr int kLeastFixedExponent = -4;   // 0.0001234 is fixed, 1.234e-5 is not
constexpr int kFirstScientificAbove = 6;  // 999999 is fixed, 1.235e6 is not
constexpr double kWholeNumbersBelow = 1e9;

/// d.ddd x 10^exponent, as the string of its digits.
struct Decimal {
  std::string digits;
  int exponent;
};

double parse(std::string_view text, int exponent) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  (void)end;
  if (error == std::errc::result_out_of_range) {
    return exponent > 0 ? std::numeric_limits<double>::infinity() : 0.0;
  }
  return value;
}

Decimal split(std::string_view text) {
  const std::size_t e = text.find('e');
  Decimal decimal{};
  for (const char c : text.substr(0, e)) {
    if (c != '.') decimal.digits += c;
  }
  std::string_view exponent = text.substr(e + 1);
  if (exponent.front() == '+') exponent.remove_prefix(1);  // from_chars takes no plus sign
  std::from_chars(exponent.data(), exponent.data() + exponent.size(), decimal.exponent);
  return decimal;
}

void increment(Decimal& decimal) {
  for (std::size_t i = decimal.digits.size(); i-- > 0;) {
    if (decimal.digits[i] != '9') {
      ++decimal.digits[i];
      return;
    }
    decimal.digits[i] = '0';
  }
  decimal.digits.front() = '1';  // 9999 -> 1000 of the next decade
  ++decimal.exponent;
}

void decrement(Decimal& decimal) {
  for (std::size_t i = decimal.digits.size(); i-- > 0;) {
    if (decimal.digits[i] != '0') {
      --decimal.digits[i];
      break;
    }
    decimal.digits[i] = '9';
  }
  if (decimal.digits.front() == '0') {  // 1000 -> 9999 of the decade below
    decimal.digits.assign(decimal.digits.size(), '9');
    --decimal.exponent;
  }
}

/// All digits of a double, of which none has more than 767.
Decimal exact(double magnitude) {
  std::array<char, 800> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), magnitude,
                                          std::chars_format::scientific, 766);
  if (error != std::errc()) throw InternalError("a double has more digits than a double can have");
  return split({buffer.data(), static_cast<std::size_t>(end - buffer.data())});
}

/// -1, 0, 1 as the decimal `text` is below, at or above `magnitude`.
///
/// A decimal stands for the double that it reads back as. Not so for subnormal numbers, among which a
/// double may stand for everything within a third of itself: there the digits themselves are compared.
int compare(const Decimal& decimal, std::string_view text, double magnitude) {
  if (magnitude >= std::numeric_limits<double>::min()) {
    const double back = parse(text, decimal.exponent);
    return (back > magnitude) - (back < magnitude);
  }
  const Decimal all = exact(magnitude);
  if (decimal.exponent != all.exponent) return decimal.exponent < all.exponent ? -1 : 1;
  std::string digits = decimal.digits;
  digits.resize(all.digits.size(), '0');
  return digits.compare(all.digits);
}

/// `magnitude` > 0 rounded to `digits`; `rounding` is about the magnitude.
Decimal round_magnitude(double magnitude, Rounding rounding, int digits) {
  std::array<char, 128> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), magnitude,
                                          std::chars_format::scientific, digits - 1);
  if (error != std::errc()) throw InternalError(fmt::format("cannot print {} digits", digits));
  const std::string_view text(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  Decimal decimal = split(text);
  // to_chars rounds to nearest, so the wanted neighbour is at most one unit away.
  const int side = compare(decimal, text, magnitude);
  if (rounding == Rounding::up && side < 0) increment(decimal);
  if (rounding == Rounding::down && side > 0) decrement(decimal);
  return decimal;
}

void drop_trailing_zeros(std::string& digits) {
  while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
}

std::string scientific(const Decimal& decimal) {
  const std::string rest = decimal.digits.substr(1);
  return fmt::format("{}{}{}e{}", decimal.digits[0], rest.empty() ? "" : ".", rest,
                     decimal.exponent);
}

std::string fixed(const Decimal& decimal) {
  if (decimal.exponent < 0) {
    return fmt::format("0.{:0<{}}{}", "", -decimal.exponent - 1, decimal.digits);
  }
  const auto whole = static_cast<std::size_t>(decimal.exponent) + 1;
  if (decimal.digits.size() <= whole) {
    return decimal.digits + std::string(whole - decimal.digits.size(), '0');
  }
  return decimal.digits.substr(0, whole) + "." + decimal.digits.substr(whole);
}

Rounding flip(Rounding rounding) {
  if (rounding == Rounding::up) return Rounding::down;
  if (rounding == Rounding::down) return Rounding::up;
  return Rounding::nearest;
}

bool is_shown_whole(double value) {
  return std::abs(value) < kWholeNumbersBelow && value == std::trunc(value);
}

/// The magnitude of a finite value other than 0, rounded to the digits that are shown of it.
Decimal shown_decimal(double value, Rounding rounding, int digits) {
  const double magnitude = std::abs(value);
  const bool is_scientific = magnitude < 1e-4 || magnitude >= 1e6;
  int used = digits;
  // 123456.7 to four digits would read 123500: an integer part is shown whole.
  while (!is_scientific && used < kFirstScientificAbove && magnitude >= std::pow(10.0, used)) {
    ++used;
  }
  return round_magnitude(magnitude, value < 0.0 ? flip(rounding) : rounding, used);
}

enum class TrailingZeros { keep, drop };

std::string format(double value, Rounding rounding, int digits, TrailingZeros zeros) {
  if (std::isnan(value)) throw InternalError("a NaN reached the report");
  if (std::isinf(value)) return value > 0.0 ? "inf" : "-inf";
  if (value == 0.0) return "0";
  if (is_shown_whole(value)) {
    return fmt::format("{}", static_cast<long long>(value));
  }
  Decimal decimal = shown_decimal(value, rounding, digits);
  const bool shown_scientific =
      decimal.exponent < kLeastFixedExponent || decimal.exponent >= kFirstScientificAbove;
  // Rounding 999999.5 up leaves the fixed range; its digits beyond `digits` are then all zero.
  if (shown_scientific) decimal.digits.resize(static_cast<std::size_t>(digits), '0');
  if (zeros == TrailingZeros::drop) drop_trailing_zeros(decimal.digits);
  return fmt::format("{}{}", value < 0.0 ? "-" : "",
                     shown_scientific ? scientific(decimal) : fixed(decimal));
}

}  // namespace

Rounding rounding_of(Claim claim) {
  if (claim == Claim::upper_bound) return Rounding::up;
  if (claim == Claim::lower_bound) return Rounding::down;
  return Rounding::nearest;
}

std::string format_number(double value, Rounding rounding, int digits) {
  return format(value, rounding, digits, TrailingZeros::keep);
}

double rounded(double value, Rounding rounding, int digits) {
  if (!std::isfinite(value) || is_shown_whole(value)) return value;
  const Decimal decimal = shown_decimal(value, rounding, digits);
  return std::copysign(parse(scientific(decimal), decimal.exponent), value);
}

std::string format_probability(double value, Rounding rounding, int digits) {
  if (!(value > 0.9999 && value < 1.0)) return format_number(value, rounding, digits);
  const double distance = 1.0 - value;  // exact for value in [1/2, 1]
  return fmt::format("1 - {}", format_number(distance, flip(rounding), 2));
}

std::string format_input(double value) {
  return format(value, Rounding::nearest, 6, TrailingZeros::drop);
}

std::string format_claimed(const Claimed<double>& claimed, NumberStyle style) {
  const Rounding rounding = rounding_of(claimed.claim);
  return style == NumberStyle::probability ? format_probability(claimed.value, rounding)
                                           : format_number(claimed.value, rounding);
}

}  // namespace sfumato
