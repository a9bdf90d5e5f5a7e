#include "sfumato/data/compression.hpp"

#include <gtest/gtest.h>

#include <random>

#include "sfumato/core/error.hpp"
#include "support/compressed.hpp"
#include "support/temp_dir.hpp"

namespace sfumato {
namespace {

std::string sample(std::size_t size) {
  std::mt19937_64 rng(3);
  std::string bytes;
  while (bytes.size() < size) bytes.push_back(static_cast<char>(rng() % 7));
  return bytes;
}

TEST(Compression, PlainBytesPass) {
  EXPECT_EQ(decompressed("", "f"), "");
  EXPECT_EQ(decompressed("plain", "f"), "plain");
  EXPECT_EQ(decompressed("\x1f", "f"), "\x1f");
}

TEST(Compression, RoundTrips) {
  for (const std::size_t size : {0u, 1u, 1000u, 300000u}) {
    const std::string bytes = sample(size);
    EXPECT_EQ(decompressed(gzip(bytes), "f"), bytes) << size;
    EXPECT_EQ(decompressed(xz(bytes), "f"), bytes) << size;
    // The limit may be met exactly.
    EXPECT_EQ(decompressed(gzip(bytes), "f", size), bytes);
    EXPECT_EQ(decompressed(xz(bytes), "f", size), bytes);
  }
  const std::string zeros(5000000, '\0');  // grows the output many times
  EXPECT_EQ(decompressed(gzip(zeros), "f"), zeros);
  EXPECT_EQ(decompressed(xz(zeros), "f"), zeros);
}

TEST(Compression, SeveralMembersAreOneContent) {
  EXPECT_EQ(decompressed(gzip("one ") + gzip("two"), "f"), "one two");
  EXPECT_EQ(decompressed(xz("one ") + xz("two"), "f"), "one two");
}

TEST(Compression, Limits) {
  const std::string bytes = sample(1000);
  for (const std::string& packed : {bytes, gzip(bytes), xz(bytes)}) {
    const std::string message =
        message_of<InvalidArgument>([&] { (void)decompressed(packed, "f", 999); });
    EXPECT_NE(message.find("f: holds more than 999 bytes"), std::string::npos) << message;
  }
}

TEST(Compression, EveryTruncationIsNoticed) {
  const std::string bytes = sample(400);
  for (const std::string& whole : {gzip(bytes), xz(bytes)}) {
    for (std::size_t size = 6; size < whole.size(); ++size) {
      const std::string message =
          message_of<InvalidArgument>([&] { (void)decompressed(whole.substr(0, size), "f"); });
      ASSERT_NE(message.find("f: is damaged"), std::string::npos) << size << ": " << message;
    }
  }
}

TEST(Compression, DamageIsNoticed) {
  const std::string bytes = sample(400);
  for (const std::string& whole : {gzip(bytes), xz(bytes)}) {
    // Past the header of gzip, whose time stamp and system may be anything.
    for (std::size_t i = 10; i < whole.size(); ++i) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
      ASSERT_THROW((void)decompressed(damaged, "f"), InvalidArgument) << i;
    }
    ASSERT_THROW((void)decompressed(whole + "rest", "f"), InvalidArgument);
  }
}

}  // namespace
}  // namespace sfumato
