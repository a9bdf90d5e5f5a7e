#include "sfumato/core/utf8.hpp"

#include <gtest/gtest.h>

namespace sfumato {
namespace {

TEST(Utf8, DecodesOneToFourBytes) {
  EXPECT_EQ(decode_utf8("A").value, 0x41u);
  EXPECT_EQ(decode_utf8("\xC3\xA9").value, 0xE9u);
  EXPECT_EQ(decode_utf8("\xE2\x82\xAC!").value, 0x20ACu);
  EXPECT_EQ(decode_utf8("\xE2\x82\xAC!").length, 3u);
  EXPECT_EQ(decode_utf8("\xF0\x9F\x98\x80").value, 0x1F600u);
}

TEST(Utf8, RefusesWhatIsNotUtf8) {
  for (const char* bytes :
       {"\xE9", "\xC3", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80",
        "\xF0\x80\x80\x80", "\xFF", "\xE2\x28\xA1", "\x80"}) {
    EXPECT_EQ(decode_utf8(bytes).length, 0u) << static_cast<int>(bytes[0]);
  }
}

}  // namespace
}  // namespace sfumato
