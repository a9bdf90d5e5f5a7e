#include "sfumato/random/float_normals.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "hwy/targets.h"
#include "sfumato/random/box_muller.hpp"

namespace sfumato {
namespace {

std::vector<float> normals(std::uint64_t step, std::uint64_t number, const PhiloxKey& key,
                           std::size_t blocks) {
  std::vector<float> values(4 * blocks);
  fill_float_normals(step, number, key, values.data(), blocks);
  return values;
}

/// With one instruction set; 0: with the best.
void use(std::int64_t target) {
  hwy::SetSupportedTargetsForTest(target);
  hwy::GetChosenTarget().DeInit();
}

// Every instruction set, aligned or not, across overflows of the low word of the block number.
TEST(FloatNormals, AllInstructionSetsAgreeBitForBit) {
  use(0);
  const std::int64_t here = hwy::SupportedTargets();
  constexpr std::uint64_t kSeed = 7;
  std::mt19937_64 rng(kSeed);
  for (int i = 0; i < 300; ++i) {
    const std::uint64_t step = rng() >> (rng() % 64);
    const std::uint64_t edge = (1 + rng() % 5) << 32;
    const std::uint64_t number = i % 3 == 0 ? edge - rng() % 60 : rng() >> (4 + rng() % 60);
    const PhiloxKey key{static_cast<std::uint32_t>(rng()), static_cast<std::uint32_t>(rng())};
    const std::size_t blocks = rng() % 200;
    use(HWY_SCALAR);
    const std::vector<float> expected = normals(step, number, key, blocks);
    for (std::int64_t rest = here; rest != 0; rest &= rest - 1) {
      const std::int64_t target = rest & -rest;
      use(target);
      ASSERT_EQ(normals(step, number, key, blocks), expected)
          << "seed " << kSeed << " case " << i << " " << hwy::TargetName(target);
    }
    use(0);
  }
}

TEST(FloatNormals, CloseToDoublePrecision) {
  const PhiloxKey key{11, 12};
  constexpr std::size_t kBlocks = 50000;
  const std::vector<float> values = normals(3, 0, key, kBlocks);
  for (std::uint32_t b = 0; b < kBlocks; ++b) {
    const PhiloxBlock w = philox4x32_10({b, 0, 3, 0}, key);
    for (std::size_t half = 0; half < 2; ++half) {
      // The radius variable as the float has it.
      const float u =
          (static_cast<float>(static_cast<std::int32_t>(w[2 * half] >> 1)) + 0.5f) * 0x1p-31f;
      const double v = static_cast<double>(w[2 * half + 1]) * 0x1p-32;
      const auto [first, second] =
          u < 1.0f ? box_muller(static_cast<double>(u), v) : NormalPair{0.0, 0.0};
      const double tolerance = 5e-7 * (1.0 + std::hypot(first, second));
      ASSERT_NEAR(static_cast<double>(values[4 * b + 2 * half]), first, tolerance) << "block " << b;
      ASSERT_NEAR(static_cast<double>(values[4 * b + 2 * half + 1]), second, tolerance)
          << "block " << b;
    }
  }
}

}  // namespace
}  // namespace sfumato
