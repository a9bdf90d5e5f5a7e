#include "sfumato/data/toml_guard.hpp"

#include <gtest/gtest.h>

#include "sfumato/core/error.hpp"
#include "unit/data/temp_dir.hpp"

namespace sfumato {
namespace {

std::string refusal(std::string_view text) {
  return message_of<InvalidArgument>([&] { require_ascii_outside_strings(text, "p.toml"); });
}

TEST(TomlGuard, StringsAndCommentsMayHoldAnything) {
  for (const char* text : {"a = 1", "# \u00e9\na = 1", "a = \"\u00e9\"", "a = '\u00e9\\' # \u00e9",
                           "a = \"\\\"\u00e9\"", "a = \"\"\"\n\u00e9\"\" \u00e9 \"\"\"\"\"",
                           "a = '''\n\u00e9'''", "\"\u00e9\" = 1",
                           "\xEF\xBB\xBF"
                           "a = 1",
                           "a = \"\"\nb = \"\u00e9\"", "a = \"\"\"\\\n  x\u00e9\"\"\"",
                           "a = \"\"\"\\\\\u00e9\"\"\"", ""}) {
    EXPECT_EQ(refusal(text), "no exception") << text;
  }
}

TEST(TomlGuard, BareCharactersAreRefusedWithTheirPlace) {
  EXPECT_EQ(
      refusal("a = 1\n\u00e9 = 2"),
      "p.toml:2:1: a non-ASCII character stands outside quotes. Put keys and values with such "
      "characters in quotes.");
  EXPECT_TRUE(
      refusal("a = \"\u00e9\u00e9\" \u00e9").starts_with("p.toml:1:10:"));  // counts characters
  EXPECT_TRUE(refusal("a = \"\" \u00e9").starts_with("p.toml:1:8:"));
  EXPECT_TRUE(refusal("a = \"\"\"x\"\"\"\"\" \u00e9").starts_with("p.toml:1:15:"));
  EXPECT_TRUE(refusal("a = '''\n''' \u00e9").starts_with("p.toml:2:5:"));
  EXPECT_TRUE(refusal("a = 'x\\' \u00e9").starts_with("p.toml:1:10:"));
}

TEST(TomlGuard, AfterALineEndingBackslash) {
  EXPECT_TRUE(refusal("s = \"\"\"\\\n\u00a7\"\"\"")
                  .starts_with("p.toml:2:1: a non-ASCII character stands after"));
  EXPECT_TRUE(refusal("s = \"\"\"\\\n \n  \u00a7\"\"\"").starts_with("p.toml:3:3:"));
}

}  // namespace
}  // namespace sfumato
