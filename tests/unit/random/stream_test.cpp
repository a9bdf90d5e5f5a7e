#include "sfumato/random/stream.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/random/box_muller.hpp"

namespace sfumato {
namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

std::pair<std::uint32_t, std::uint32_t> words_of(const StreamKey& key) {
  return {key.words()[0], key.words()[1]};
}

TEST(StreamKey, EveryPartCounts) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> keys;
  std::size_t made = 0;
  const auto make = [&](const StreamKey& key) {
    keys.insert(words_of(key));
    ++made;
  };
  for (const std::uint64_t seed :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 32, kMax}) {
    for (const Purpose purpose : {Purpose::initialisation, Purpose::batches, Purpose::noise,
                                  Purpose::simulation, Purpose::bootstrap}) {
      make(StreamKey(seed, purpose));
      for (const std::uint64_t a : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 32}) {
        make(StreamKey(seed, purpose, {a}));
        for (const std::uint64_t b : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}}) {
          make(StreamKey(seed, purpose, {a, b}));
        }
      }
    }
  }
  EXPECT_EQ(keys.size(), made);
}

TEST(StreamKey, DocumentedFold) {
  const PhiloxBlock first = philox4x32_10({7, 1, 0, 3}, {0x89abcdef, 0x01234567});
  const PhiloxBlock last = philox4x32_10({1, 0, 0xffffffff, 3}, {first[0], first[1]});
  const StreamKey key(0x0123456789abcdef, Purpose::noise, {0x100000007});
  EXPECT_EQ(key.words(), (PhiloxKey{last[0], last[1]}));
}

TEST(Stream, DocumentedLayout) {
  const StreamKey key(42, Purpose::noise, {3});
  const Stream stream(key);
  const std::uint64_t step = 0x500000006, block = 0x700000008;
  const PhiloxBlock w = philox4x32_10({8, 7, 6, 5}, key.words());
  const auto uniform = [](std::uint32_t lo, std::uint32_t hi) {
    return static_cast<double>(((std::uint64_t{hi} << 32) | lo) >> 11) * 0x1p-53;
  };
  const double u = uniform(w[0], w[1]), v = uniform(w[2], w[3]);

  std::vector<double> doubles(2);
  stream.fill_uniform(step, 2 * block, doubles);
  EXPECT_EQ(doubles, (std::vector<double>{u, v}));
  stream.fill_normal(step, 2 * block, doubles);
  EXPECT_EQ(doubles[0], box_muller(u, v).first);
  EXPECT_EQ(doubles[1], box_muller(u, v).second);

  std::vector<float> floats(4);
  stream.fill_normal(step, 4 * block, floats);
  for (std::size_t half = 0; half < 2; ++half) {
    const double short_u = (static_cast<double>(w[2 * half] / 2) + 0.5) * 0x1p-31;
    const NormalPair pair = box_muller(short_u, static_cast<double>(w[2 * half + 1]) * 0x1p-32);
    // Single precision, so not the last bit; float_normals_test.cpp pins those.
    EXPECT_NEAR(static_cast<double>(floats[2 * half]), pair.first, 1e-6);
    EXPECT_NEAR(static_cast<double>(floats[2 * half + 1]), pair.second, 1e-6);
  }
  EXPECT_EQ(stream.below(step, block, 1u << 16), w[1] >> 16);
}

TEST(Stream, PinnedValues) {
  // From the documented layout in Python (NumPy for the floats). Any change of these changes every seeded result.
  const Stream stream(StreamKey(1, Purpose::simulation));
  std::vector<double> uniform(2), normal(2);
  std::vector<float> short_normal(4);
  stream.fill_uniform(0, 0, uniform);
  stream.fill_normal(0, 0, normal);
  stream.fill_normal(0, 0, short_normal);
  EXPECT_EQ(uniform, (std::vector<double>{0x1.bc4ac6a044654p-1, 0x1.a921d3d79ca8bp-1}));
  EXPECT_EQ(normal, (std::vector<double>{0x1.07c25d4aa2ad0p-2, -0x1.dd627c5f5e7d2p-2}));
  EXPECT_EQ(short_normal, (std::vector<float>{0x1.5a513c0000000p+0f, -0x1.7b5c4e0000000p+0f,
                                              0x1.4542ea0000000p-2f, -0x1.2659780000000p-1f}));
}

TEST(Stream, LastIndexAndBeyond) {
  const Stream stream(StreamKey(1, Purpose::simulation));
  std::vector<double> one(1), two(2);
  stream.fill_uniform(0, kMax, one);
  stream.fill_uniform(0, kMax - 1, two);
  EXPECT_EQ(one[0], two[1]);
  EXPECT_THROW(stream.fill_uniform(0, kMax, two), InvalidArgument);
  EXPECT_THROW(stream.fill_normal(0, kMax, two), InvalidArgument);
  std::vector<float> floats(2);
  EXPECT_THROW(stream.fill_normal(0, kMax, floats), InvalidArgument);
  std::vector<double> none;
  EXPECT_NO_THROW(stream.fill_normal(0, kMax, none));
}

TEST(Stream, BelowEdges) {
  const Stream stream(StreamKey(1, Purpose::batches));
  EXPECT_THROW((void)stream.below(0, 0, 0), InvalidArgument);
  const std::uint64_t hard = (std::uint64_t{1} << 63) + 1;  // rejects nearly every second candidate
  for (std::uint64_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(stream.below(0, i, 1), 0u);
    EXPECT_LT(stream.below(0, i, 3), 3u);
    EXPECT_LT(stream.below(0, i, hard), hard);
  }
}

}  // namespace
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
