#include "sfumato/random/box_muller.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace sfumato {
namespace {

TEST(BoxMuller, QuarterTurnsAreExact) {
  const double u = 0.25;
  const double radius = box_muller(u, 0.0).first;
  EXPECT_DOUBLE_EQ(radius, std::sqrt(-2.0 * std::log(u)));
  EXPECT_EQ(box_muller(u, 0.0).second, 0.0);
  EXPECT_EQ(box_muller(u, 0.25).first, 0.0);
  EXPECT_EQ(box_muller(u, 0.25).second, radius);
  EXPECT_EQ(box_muller(u, 0.5).first, -radius);
  EXPECT_EQ(box_muller(u, 0.75).second, -radius);
}

TEST(BoxMuller, EndsOfTheRadius) {
  EXPECT_DOUBLE_EQ(box_muller(0x1p-54, 0.0).first, std::sqrt(108.0 * std::log(2.0)));
  EXPECT_DOUBLE_EQ(box_muller(1.0 - 0x1p-53, 0.0).first, 0x1p-26);
}

TEST(BoxMuller, AgreesWithLongDoubleArithmetic) {
  std::mt19937_64 rng(5);
  const long double two_pi = 2.0L * std::acos(-1.0L);
  for (int i = 0; i < 100000; ++i) {
    const double u = std::max(static_cast<double>(rng() >> 11), 0.5) * 0x1p-53;
    const double v = std::max(static_cast<double>(rng() >> 11), 0.5) * 0x1p-53;
    const double small = std::ldexp(u, -static_cast<int>(rng() % 50));  // towards the tail
    const long double radius = std::sqrt(-2.0L * std::log(static_cast<long double>(small)));
    const long double angle = two_pi * static_cast<long double>(v);
    const NormalPair pair = box_muller(small, v);
    // 4e-16 for each factor, and one rounding of the product.
    ASSERT_LE(std::abs(static_cast<long double>(pair.first) - radius * std::cos(angle)),
              8e-16L * radius)
        << "u " << small << " v " << v;
    ASSERT_LE(std::abs(static_cast<long double>(pair.second) - radius * std::sin(angle)),
              8e-16L * radius)
        << "u " << small << " v " << v;
  }
}

TEST(BoxMuller, PinnedBits) {
  // From the same formula in Python. Any change of these changes every seeded result.
  const NormalPair pair = box_muller(0.1, 0.3);
  EXPECT_EQ(pair.first, -0x1.538715144eeb2p-1);
  EXPECT_EQ(pair.second, 0x1.053d5b7141dc8p+1);
}

}  // namespace
}  // namespace sfumato
