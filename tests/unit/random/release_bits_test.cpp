#include "sfumato/random/release_bits.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

TEST(ReleaseBits, AreTheKeystreamOfChaCha20) {
  // RFC 8439, appendix A.1, test vector 1: key, nonce and counter of zeros.
  ReleaseBits bits(ReleaseKey::from_seed(0));
  EXPECT_EQ(bits.word(), 0x903df1a0ade0b876u);
  EXPECT_EQ(bits.word(), 0x28bd8653e56a5d40u);
}

TEST(ReleaseBits, OfASeedAreTheSameAgainAndOfTheSystemAreNot) {
  ReleaseBits one(ReleaseKey::from_seed(7), 3), again(ReleaseKey::from_seed(7), 3);
  ReleaseBits other(ReleaseKey::from_seed(7), 4), seed(ReleaseKey::from_seed(8), 3);
  for (int i = 0; i < 2000; ++i) {  // past the end of a buffer
    const std::uint64_t word = one.word();
    ASSERT_EQ(word, again.word());
    ASSERT_NE(word, other.word());
    ASSERT_NE(word, seed.word());
  }
  EXPECT_FALSE(ReleaseKey::from_seed(7).secret());
  const ReleaseKey system = ReleaseKey::from_system(), second = ReleaseKey::from_system();
  EXPECT_TRUE(system.secret());
  EXPECT_NE(ReleaseBits(system).word(), ReleaseBits(second).word());
}

TEST(ReleaseBits, BelowIsUniformAndCoinsAreFair) {
  ReleaseBits bits(ReleaseKey::from_seed(1));
  std::array<int, 7> counts{};
  constexpr int kDraws = 70'000;
  for (int i = 0; i < kDraws; ++i) ++counts[static_cast<std::size_t>(bits.below(7))];
  double chi_square = 0.0;
  for (const int count : counts) chi_square += std::pow(count - 1e4, 2) / 1e4;
  EXPECT_LT(chi_square, 33.1);  // 6 degrees of freedom: false alarm 1e-5, for a fixed seed
  int heads = 0;
  const Uint128 third = (Uint128{1} << 100);
  for (int i = 0; i < 30'000; ++i) heads += bits.coin(third, 3 * third);
  EXPECT_NEAR(heads, 10'000, 4.5 * std::sqrt(30'000.0 * 2 / 9));  // false alarm 7e-6
  EXPECT_TRUE(bits.coin(5, 5));
  EXPECT_FALSE(bits.coin(0, 5));
  EXPECT_THROW((void)bits.below(0), InvalidArgument);
}

TEST(ReleaseBits, NormalsHaveTheirMoments) {
  ReleaseBits bits(ReleaseKey::from_seed(5));
  std::vector<double> values(100'001);
  fill_normal(bits, values);
  double mean = 0.0, square = 0.0, fourth = 0.0;
  for (const double z : values) mean += z, square += z * z, fourth += z * z * z * z;
  const auto n = static_cast<double>(values.size());
  EXPECT_NEAR(mean / n, 0.0, 4.5 / std::sqrt(n));
  EXPECT_NEAR(square / n, 1.0, 4.5 * std::sqrt(2.0 / n));
  EXPECT_NEAR(fourth / n, 3.0, 4.5 * std::sqrt(96.0 / n));
}

}  // namespace
}  // namespace sfumato
