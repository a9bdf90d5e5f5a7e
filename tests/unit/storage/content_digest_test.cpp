#include "sfumato/storage/content_digest.hpp"

#include <gtest/gtest.h>

#include "sfumato/data/checksum.hpp"

namespace sfumato {
namespace {

TEST(ContentDigest, OfOneItemIsItsSha256) {
  EXPECT_EQ(ContentDigest().hex(), std::string(64, '0'));
  EXPECT_EQ(ContentDigest::of("abc").hex(), sha256("abc"));
  ContentDigest sum;
  sum += ContentDigest::of("abc");
  EXPECT_EQ(sum, ContentDigest::of("abc"));
}

TEST(ContentDigest, IsASumModulo2To256) {
  const auto digest = [](const std::string& hex) { return ContentDigest::parse(hex).value(); };
  ContentDigest carries = digest(std::string(64, 'f'));
  EXPECT_EQ((carries += digest(std::string(63, '0') + "1")).hex(), std::string(64, '0'));
  ContentDigest words = digest("00000000000000000000000000000001" + std::string(32, 'f'));
  words += digest(std::string(63, '0') + "3");
  EXPECT_EQ(words.hex(), "00000000000000000000000000000002" + std::string(31, '0') + "2");
  // A word of all ones and a carry into it.
  ContentDigest both = digest(std::string(32, '0') + std::string(32, 'f'));
  both += digest(std::string(32, '0') + std::string(32, 'f'));
  EXPECT_EQ(both.hex(), std::string(31, '0') + "1" + std::string(31, 'f') + "e");
}

TEST(ContentDigest, OrderDoesNotMatterAndItemsDo) {
  ContentDigest one, two;
  for (const char* item : {"a", "b", "c"}) one += ContentDigest::of(item);
  for (const char* item : {"c", "a", "b"}) two += ContentDigest::of(item);
  EXPECT_EQ(one, two);
  two += ContentDigest::of("b");  // unlike a sum of bits, twice is not never
  EXPECT_NE(one, two);
  two -= ContentDigest::of("b");
  EXPECT_EQ(one, two);
  two -= ContentDigest::of("a");
  EXPECT_NE(one, two);
  two += ContentDigest::of("d");
  EXPECT_NE(one, two);
  EXPECT_EQ(ContentDigest::parse(one.hex()), one);
}

TEST(ContentDigest, OnlyDigestsAreParsed) {
  for (const std::string& text :
       {std::string(), std::string(63, '0'), std::string(65, '0'), std::string(63, '0') + "g",
        "-" + std::string(63, '0'), std::string(16, '0') + "0x" + std::string(46, '0')}) {
    EXPECT_FALSE(ContentDigest::parse(text)) << text;
  }
}

}  // namespace
}  // namespace sfumato
