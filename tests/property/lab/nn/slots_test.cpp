#include "lab/nn/slots.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "support/labelled_sets.hpp"

namespace sfumato::lab {
namespace {

constexpr std::uint64_t kSeed = 141421356;
constexpr double kSigmas = 5.0;  // two-sided normal tail: 5.7e-7 per comparison

void expect_frequency(double count, double n, double p, const char* what) {
  EXPECT_LT(std::abs(count - n * p), kSigmas * std::sqrt(n * p * (1 - p))) << what;
}

bool holds(const Slots& slots, std::uint32_t record) {
  return std::find(slots.records.begin(), slots.records.end(), record) != slots.records.end();
}

TEST(SlotsProperty, WorldsKeepTheirPromises) {
  std::mt19937_64 rng(kSeed);
  for (int i = 0; i < 1000; ++i) {
    const std::size_t size = 4 + rng() % 60;
    const int classes = 2 + static_cast<int>(rng() % 9);
    const LabelledSet set = pixel_set(size, classes);
    const std::size_t count = 2 + rng() % (size - 3);
    const auto adjacency = rng() % 2 == 0 ? Adjacency::remove : Adjacency::replace;
    const std::size_t most = adjacency == Adjacency::remove ? count - 1 : size - count;
    const std::size_t many = 1 + rng() % std::min(most, count);
    const bool mislabel = rng() % 2 == 0;
    const std::uint64_t seed = rng(), draw = rng() % 5;
    Slots slots = random_slots(set, count, seed);
    const auto record = static_cast<std::uint32_t>(rng() % size);
    const std::uint32_t slot = hold_record(slots, set, record);
    ASSERT_EQ(slots.records[slot], record);
    const auto chosen = random_positions(count, many, seed, draw);
    const SlotPair pair = differ(set, slots, chosen, {adjacency, mislabel}, seed, draw);
    ASSERT_EQ(pair.slots.records, slots.records);
    ASSERT_EQ(pair.other.changes.size(), many);
    for (std::size_t j = 0; j < count; ++j) {
      const bool is_chosen = std::count(chosen.begin(), chosen.end(), j) > 0;
      ASSERT_EQ(pair.slots.labels[j] != slots.labels[j], is_chosen && mislabel)
          << "seed " << kSeed << " case " << i;
      ASSERT_LT(pair.slots.labels[j], classes);
    }
    std::vector<std::uint32_t> others;
    for (const SlotChange& change : pair.other.changes) {
      ASSERT_EQ(change.empty, adjacency == Adjacency::remove);
      if (change.empty) continue;
      ASSERT_FALSE(holds(slots, change.record));
      ASSERT_EQ(change.label, set.labels[change.record]);
      others.push_back(change.record);
    }
    std::sort(others.begin(), others.end());
    ASSERT_EQ(std::adjacent_find(others.begin(), others.end()), others.end());
    for (const SlotChange& change : random_half(pair.other, seed, draw).changes) {
      ASSERT_EQ(std::count(pair.other.changes.begin(), pair.other.changes.end(), change), 1);
    }
  }
}

// Every record and every pair of records is equally likely to be in D, also given that a third is.
// False alarm: (10 + 45) + (9 + 36) comparisons at 5 sigma, 6e-5.
TEST(SlotsProperty, SubsetsAreUniform) {
  const LabelledSet set = pixel_set(10);
  constexpr std::size_t kCount = 4, kDraws = 20000;
  const double n = kDraws;
  for (const bool given : {false, true}) {
    std::vector<double> counts(100, 0.0);
    for (std::uint64_t seed = 0; seed < kDraws; ++seed) {
      Slots slots = random_slots(set, kCount, kSeed + seed);
      if (given) (void)hold_record(slots, set, 9);
      for (const std::uint32_t a : slots.records) {
        for (const std::uint32_t b : slots.records) counts[10 * a + b] += 1.0;
      }
    }
    const std::size_t free = given ? 9 : 10, chosen = given ? 3 : 4;
    const auto f = static_cast<double>(free), c = static_cast<double>(chosen);
    for (std::size_t a = 0; a < free; ++a) {
      expect_frequency(counts[11 * a], n, c / f, "record");
      for (std::size_t b = 0; b < a; ++b) {
        expect_frequency(counts[10 * a + b], n, c * (c - 1) / (f * (f - 1)), "pair");
      }
    }
  }
}

// Differing slot, replacement and canary label, each uniform; and coins, single and in pairs.
// False alarm: 4 + 6 + 9 + 5 + 4 comparisons at 5 sigma, 2e-5.
TEST(SlotsProperty, ChoicesAreUniform) {
  const LabelledSet set = pixel_set(10);
  constexpr std::size_t kDraws = 20000;
  const double n = kDraws;
  const Slots slots = random_slots(set, 4, kSeed);
  std::vector<double> position(4, 0.0), other(10, 0.0), label(10, 0.0);
  for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
    position[random_positions(4, 1, kSeed, draw)[0]] += 1.0;
    const std::vector<std::uint32_t> first{0};
    const SlotPair pair = differ(set, slots, first, {Adjacency::replace, true}, kSeed, draw);
    other[pair.other.changes[0].record] += 1.0;
    label[pair.slots.labels[0]] += 1.0;
  }
  for (const double count : position) expect_frequency(count, n, 0.25, "position");
  for (std::uint32_t record = 0; record < 10; ++record) {
    if (!holds(slots, record)) expect_frequency(other[record], n, 1.0 / 6.0, "other record");
    if (record != slots.labels[0]) expect_frequency(label[record], n, 1.0 / 9.0, "label");
  }
  EXPECT_EQ(label[slots.labels[0]], 0.0);

  const World all{
      {{0, true, 0, 0}, {1, true, 0, 0}, {2, true, 0, 0}, {7, true, 0, 0}, {9, true, 0, 0}}};
  std::vector<double> kept(5, 0.0), with_next(4, 0.0);
  for (std::uint64_t model = 0; model < kDraws; ++model) {
    const World half = random_half(all, kSeed, model);
    const auto has = [&](std::size_t i) {
      return std::count(half.changes.begin(), half.changes.end(), all.changes[i]) > 0;
    };
    for (std::size_t i = 0; i < 5; ++i) {
      if (has(i)) kept[i] += 1.0;
      if (i < 4 && has(i) && has(i + 1)) with_next[i] += 1.0;
    }
  }
  for (const double count : kept) expect_frequency(count, n, 0.5, "coin");
  for (const double count : with_next) expect_frequency(count, n, 0.25, "two coins");
}

}  // namespace
}  // namespace sfumato::lab
