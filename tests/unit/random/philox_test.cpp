#include "sfumato/random/philox.hpp"

#include <gtest/gtest.h>

namespace sfumato {
namespace {

// The vectors published with Random123 (file kat_vectors, philox4x32 with 10 rounds).

TEST(Philox, KnownAnswerZero) {
  constexpr PhiloxBlock block = philox4x32_10({0, 0, 0, 0}, {0, 0});
  EXPECT_EQ(block, (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
}

TEST(Philox, KnownAnswerOnes) {
  constexpr std::uint32_t ones = 0xffffffff;
  constexpr PhiloxBlock block = philox4x32_10({ones, ones, ones, ones}, {ones, ones});
  EXPECT_EQ(block, (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

TEST(Philox, KnownAnswerPi) {
  constexpr PhiloxBlock block =
      philox4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0});
  EXPECT_EQ(block, (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

}  // namespace
}  // namespace sfumato
