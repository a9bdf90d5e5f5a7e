#include "sfumato/report/printable.hpp"

#include <gtest/gtest.h>

namespace sfumato {
namespace {

TEST(Printable, KeepsPlainTextAndUnicode) {
  EXPECT_EQ(printable("KL(D‖D') ≤ ε, 中文"), "KL(D‖D') ≤ ε, 中文");
  EXPECT_EQ(printable(""), "");
}

TEST(Printable, EscapesWhatMovesTheCursor) {
  EXPECT_EQ(printable("a\x1b[31mb"), "a\\x1b[31mb");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("\x7f"), "\\x7f");
  EXPECT_EQ(printable("\u009b2J"), "\\x9b2J");
  EXPECT_EQ(printable("evil\u202Etxt"), "evil\\u{202e}txt");
  EXPECT_EQ(printable("two\nlines\tand\rmore"), "two lines and more");
}

TEST(Printable, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(printable("caf\xe9"), "caf\uFFFD");
  EXPECT_EQ(printable("\xc0\xaf"), "\uFFFD\uFFFD");            // overlong '/'
  EXPECT_EQ(printable("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD");  // surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(printable("\xe2\x82"), "\uFFFD\uFFFD");  // cut short
}

TEST(DisplayWidth, CountsColumns) {
  EXPECT_EQ(display_width("abc"), 3u);
  EXPECT_EQ(display_width("ε‖é"), 3u);
  EXPECT_EQ(display_width("e\u0301"), 1u);  // e and a combining accent
  EXPECT_EQ(display_width("中文"), 4u);
  EXPECT_EQ(display_width("\xff"), 1u);
}

TEST(Pad, FillsToTheWidth) {
  EXPECT_EQ(pad_left("中", 4), "  中");
  EXPECT_EQ(pad_right("ε", 3), "ε  ");
  EXPECT_EQ(pad_left("abcd", 2), "abcd");
}

TEST(Wrap, BreaksBetweenWordsAndIndents) {
  EXPECT_EQ(wrap("Note: ", "one two three four", 14), "Note: one two\n      three\n      four\n");
  EXPECT_EQ(wrap("", "unbreakable", 4), "unbreakable\n");
  EXPECT_EQ(wrap("", "a  b", 80), "a b\n");
  EXPECT_EQ(wrap("x ", "", 80), "x \n");
  EXPECT_EQ(wrap("", "ab cd", 5), "ab cd\n");
  EXPECT_EQ(wrap("", "ab cd", 4), "ab\ncd\n");
}

}  // namespace
}  // namespace sfumato
