#include "sfumato/data/text.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace sfumato {
namespace {

double value(std::string_view text, char decimal = '.') {
  const ParsedNumber number = parse_number(text, decimal);
  EXPECT_EQ(number.status, NumberStatus::ok) << text;
  return number.value;
}

TEST(Number, AcceptsWhatPeopleWrite) {
  EXPECT_EQ(value("1"), 1.0);
  EXPECT_EQ(value("+1.5"), 1.5);
  EXPECT_EQ(value("-.5"), -0.5);
  EXPECT_EQ(value("5."), 5.0);
  EXPECT_EQ(value("1e-5"), 1e-5);
  EXPECT_EQ(value("1E+5"), 1e5);
  EXPECT_EQ(value("4.9e-324"), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(value("1,5", ','), 1.5);
  EXPECT_EQ(value("0.1000000000000000055511151231257827"), 0.1);
}

TEST(Number, RefusesTheRest) {
  for (const char* text :
       {"",   "+",     "-",     "+-1", "--1", "inf", "-inf", "nan", "Infinity", "0x10",
        "1e", "1.2.3", "1,000", "1 ",  " 1",  "abc", "1a",   "e5",  ".",        "1_000"}) {
    EXPECT_EQ(parse_number(text).status, NumberStatus::not_a_number) << text;
  }
  EXPECT_EQ(parse_number("1.5", ',').status, NumberStatus::not_a_number);
  EXPECT_EQ(parse_number("1e999").status, NumberStatus::out_of_range);
  EXPECT_EQ(parse_number("-1e999").status, NumberStatus::out_of_range);
  EXPECT_EQ(parse_number("1e-999").status, NumberStatus::out_of_range);
}

TEST(Shown, EscapesAndShortens) {
  EXPECT_EQ(shown("abc"), "\"abc\"");
  EXPECT_EQ(shown("a\"b\\"), "\"a\\\"b\\\\\"");
  EXPECT_EQ(shown("a\nb\x01\x7f"), "\"a\\x0ab\\x01\\x7f\"");
  EXPECT_EQ(shown("caf\xC3\xA9"), "\"caf\xC3\xA9\"");
  EXPECT_EQ(shown("caf\xE9"), "\"caf\\xe9\"");
  EXPECT_EQ(shown(std::string(41, 'x')), "\"" + std::string(40, 'x') + "...\"");
  EXPECT_EQ(shown(std::string(40, 'x')), "\"" + std::string(40, 'x') + "\"");
}

TEST(Printable, EscapesWithoutQuotes) {
  EXPECT_EQ(escaped("a\"\x02 caf\xC3\xA9 \xE9"), "a\"\\x02 caf\xC3\xA9 \\xe9");
}

TEST(Utf8, WellFormedOnly) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8("A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"));
  EXPECT_FALSE(is_utf8("\xE9"));              // Latin-1
  EXPECT_FALSE(is_utf8("\xC3"));              // cut short
  EXPECT_FALSE(is_utf8("\xC0\x80"));          // overlong
  EXPECT_FALSE(is_utf8("\xE0\x80\x80"));      // overlong
  EXPECT_FALSE(is_utf8("\xED\xA0\x80"));      // surrogate
  EXPECT_FALSE(is_utf8("\xF4\x90\x80\x80"));  // beyond U+10FFFF
  EXPECT_FALSE(is_utf8("\xF0\x80\x80\x80"));  // overlong
  EXPECT_FALSE(is_utf8("\xFF"));
  EXPECT_FALSE(is_utf8("\xE2\x28\xA1"));  // second byte continues nothing
}

TEST(Trimmed, BlanksAndTabs) {
  EXPECT_EQ(trimmed(" \ta b\t "), "a b");
  EXPECT_EQ(trimmed("  "), "");
}

}  // namespace
}  // namespace sfumato
