#include "sfumato/data/toml_unicode.hpp"

#include <gtest/gtest.h>

#include "sfumato/core/error.hpp"
#include "support/temp_dir.hpp"

namespace sfumato {
namespace {

std::string refusal(std::string_view text) {
  return message_of<InvalidArgument>([&] { (void)lifted(text, "p.toml"); });
}

TEST(TomlUnicode, ComesBack) {
  for (const char* text : {"", "a = 1", "\u0080", "\u00e9\u07ff", "\u0800\u20ac\ufeff\uffff",
                           "\U00010000\U000FFFFF"}) {
    EXPECT_EQ(lowered(lifted(text, "p.toml")), text);
  }
}

TEST(TomlUnicode, LeavesNothingBetweenAsciiAndPlaneOne) {
  EXPECT_EQ(lifted("a\u00e9", "p.toml"), "a\U001000e9");
  EXPECT_EQ(lifted("\u20ac", "p.toml"), "\U001020ac");
  EXPECT_EQ(lifted("\U0001F600", "p.toml"), "\U0001F600");
}

TEST(TomlUnicode, LowersWhatTheParserGives) {
  EXPECT_EQ(lowered("saw '\U001000e9'"), "saw '\u00e9'");
  EXPECT_EQ(lowered("\u00e9 from an escape"), "\u00e9 from an escape");
  EXPECT_EQ(lowered("\xF4 cut"), "\xF4 cut");
}

TEST(TomlUnicode, Refusals) {
  EXPECT_EQ(refusal("a = 1\nb = \"\u00e9\xE9\""),
            "p.toml:2:7: this is not UTF-8. Save the file as UTF-8.");
  EXPECT_TRUE(refusal("a\xC3").starts_with("p.toml:1:2:"));
  EXPECT_EQ(refusal("\n\U001000e9"),
            "p.toml:2:1: a private-use character stands here. Leave it out.");
  EXPECT_TRUE(refusal("a = \"\\U001000e9\"").starts_with("p.toml:1:6: a private-use"));
}

}  // namespace
}  // namespace sfumato
