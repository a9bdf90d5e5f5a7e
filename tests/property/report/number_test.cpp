#include "sfumato/report/number.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>

namespace sfumato {
namespace {

constexpr std::uint64_t kSeed = 20240611;
constexpr int kCases = 20000;

/// Every shape a printed value can have: any bit pattern (subnormals included), values near powers
/// of ten where digits carry, moderate values, and decimals of a few digits.
double any_double(std::mt19937_64& rng, int shape) {
  const double sign = (rng() & 1) != 0 ? 1.0 : -1.0;
  const double u = std::generate_canonical<double, 53>(rng);
  switch (shape % 5) {
    case 0: {
      const double value = std::bit_cast<double>(rng());
      return std::isfinite(value) ? value : u;
    }
    case 1: return sign * u * 0x1p-1022;  // subnormal
    case 2:
      return sign * std::pow(10.0, std::floor(u * 24.0) - 12.0) *
             (1.0 + (u - 0.5) * std::pow(10.0, -1.0 - static_cast<double>(rng() % 15)));
    case 3: return sign * std::exp((u - 0.5) * 40.0);
    default: return sign * std::floor(u * 1e6) / 1e5;
  }
}

double read(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

/// -1, 0, 1 as the printed number is below, at or above `value`: as doubles, and for subnormal values, where
/// a double stands for decimals far away, as the rational numbers that both are.
int side_of(const std::string& text, double value) {
  if (value == 0.0 || std::abs(value) >= std::numeric_limits<double>::min()) {
    const double shown = read(text);
    return (shown > value) - (shown < value);
  }
  // text = digits 10^exponent against value = mantissa 2^-1074, with integers: digits 2^1074 against
  // mantissa 10^-exponent.
  const std::size_t e = text.find('e');
  const std::size_t point = text.find('.');
  const int exponent = std::stoi(text.substr(e + 1));
  std::string digits = text.substr(0, e);
  int decimals = 0;
  if (point < e) {
    decimals = static_cast<int>(e - point) - 1;
    digits.erase(point, 1);
  }
  using Integer = boost::multiprecision::cpp_int;
  const Integer shown = Integer(digits) << 1074;
  const Integer mantissa = static_cast<long long>(value / 0x1p-1074);
  const Integer exact = mantissa * boost::multiprecision::pow(
                                       Integer(10), static_cast<unsigned>(decimals - exponent));
  return shown.compare(exact);
}

/// The value of "1 - 3.2e-9" as its distance from 1, or of a plain number likewise.
double distance_from_one(const std::string& text) {
  if (text.rfind("1 - ", 0) == 0) return read(text.substr(4));
  return 1.0 - read(text);
}

TEST(FormatNumberProperty, DirectedRoundingStaysOnItsSide) {
  std::mt19937_64 rng(kSeed);
  for (int i = 0; i < kCases; ++i) {
    const double value = any_double(rng, i);
    const std::string up = format_number(value, Rounding::up);
    const std::string down = format_number(value, Rounding::down);
    const std::string nearest = format_number(value);
    ASSERT_GE(read(up), value) << "seed " << kSeed << " case " << i << ": " << up;
    ASSERT_LE(read(down), value) << "seed " << kSeed << " case " << i << ": " << down;
    ASSERT_TRUE(nearest == up || nearest == down)
        << "seed " << kSeed << " case " << i << ": " << down << " " << nearest << " " << up;
    if (std::abs(value) > 1e-300 && std::abs(value) < 1e300) {
      // Four digits: at most one unit of the fourth, which is 1e-3 of the value or less.
      ASSERT_LE(read(up) - value, 1.0000001e-3 * std::abs(value)) << up << " case " << i;
      ASSERT_LE(value - read(down), 1.0000001e-3 * std::abs(value)) << down << " case " << i;
      ASSERT_LE(std::abs(read(nearest) - value), 0.50001e-3 * std::abs(value)) << nearest;
    }
  }
}

TEST(FormatNumberProperty, AnyDoubleAnyNumberOfDigits) {
  std::mt19937_64 rng(kSeed + 3);
  for (int i = 0; i < kCases; ++i) {
    // Every other case subnormal: with one significant bit or all of them.
    const std::uint64_t bits = rng();
    const std::uint64_t fraction = (bits & 0xfffffffffffffu) >> (rng() % 52);
    const std::uint64_t sign = bits & 0x8000000000000000u;
    const double value = std::bit_cast<double>(i % 2 == 0 ? sign | fraction : bits);
    if (!std::isfinite(value)) continue;
    const int digits = 1 + static_cast<int>(rng() % 17);
    const std::string up = format_number(value, Rounding::up, digits);
    const std::string down = format_number(value, Rounding::down, digits);
    const std::string nearest = format_number(value, Rounding::nearest, digits);
    const std::string context =
        fmt::format("seed {} case {}: {} to {} digits", kSeed + 3, i, value, digits);
    ASSERT_GE(side_of(up, value), 0) << context << ", up " << up;
    ASSERT_LE(side_of(down, value), 0) << context << ", down " << down;
    ASSERT_TRUE(nearest == up || nearest == down)
        << context << ": " << down << " " << nearest << " " << up;
  }
}

TEST(FormatNumberProperty, PrintedNumbersAreFixedPoints) {
  std::mt19937_64 rng(kSeed + 1);
  for (int i = 0; i < kCases; ++i) {
    const double value = any_double(rng, i);
    if (std::abs(value) < 1e-300 || std::abs(value) > 1e300) continue;
    const double shown = read(format_number(value, Rounding::up));
    for (const Rounding rounding : {Rounding::nearest, Rounding::up, Rounding::down}) {
      ASSERT_EQ(read(format_number(shown, rounding)), shown)
          << "seed " << kSeed + 1 << " case " << i;
    }
  }
}

TEST(FormatProbabilityProperty, NeverOneAndOnItsSide) {
  std::mt19937_64 rng(kSeed + 2);
  for (int i = 0; i < kCases; ++i) {
    const double u = std::generate_canonical<double, 53>(rng);
    const double value = 1.0 - std::pow(10.0, -16.0 * u);
    if (value >= 1.0 || value <= 0.0) continue;
    const std::string up = format_probability(value, Rounding::up);
    const std::string down = format_probability(value, Rounding::down);
    ASSERT_LE(distance_from_one(up), 1.0 - value) << up << " case " << i;
    ASSERT_GE(distance_from_one(down), 1.0 - value) << down << " case " << i;
    for (const Rounding rounding : {Rounding::nearest, Rounding::up, Rounding::down}) {
      ASSERT_GT(distance_from_one(format_probability(value, rounding)), 0.0) << "case " << i;
    }
  }
}

}  // namespace
}  // namespace sfumato
