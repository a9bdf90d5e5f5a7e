#include "lab/nn/slots.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "sfumato/core/error.hpp"
#include "support/labelled_sets.hpp"
#include "support/temp_dir.hpp"

namespace sfumato::lab {
namespace {

constexpr std::uint64_t kSeed = 7;

TEST(Slots, SubsetIsFixedByItsSeed) {
  // Computed by an independent program from the layout in stream.hpp and subset.hpp. A change of them
  // is a change of every study.
  const Slots slots = random_slots(pixel_set(100), 5, kSeed);
  EXPECT_EQ(slots.records, (std::vector<std::uint32_t>{85, 79, 10, 87, 55}));
}

TEST(Slots, SubsetHasDistinctRecordsWithTheirLabels) {
  const LabelledSet set = pixel_set(100);
  const Slots slots = random_slots(set, 60, kSeed);
  ASSERT_EQ(slots.count(), 60u);
  EXPECT_EQ(std::set<std::uint32_t>(slots.records.begin(), slots.records.end()).size(), 60u);
  for (std::size_t i = 0; i < 60; ++i) EXPECT_EQ(slots.labels[i], set.labels[slots.records[i]]);
  EXPECT_NE(random_slots(set, 60, kSeed + 1).records, slots.records);
}

TEST(Slots, FewerAreTheFirstOfMore) {
  const LabelledSet set = pixel_set(100);
  const Slots all = random_slots(set, 100, kSeed);
  const Slots few = random_slots(set, 10, kSeed);
  EXPECT_TRUE(std::equal(few.records.begin(), few.records.end(), all.records.begin()));
}

TEST(Slots, SubsetRefusals) {
  EXPECT_EQ(
      message_of<InvalidArgument>([] { (void)random_slots(pixel_set(10), 11, 1); }),
      "random_slots: 11 records are asked of pixels, which has 10. Ask for at most as many as "
      "there are.");
  EXPECT_THROW((void)random_slots(pixel_set(10), 0, 1), InvalidArgument);
  const Stream stream(StreamKey(1, Purpose::selection));
  EXPECT_THROW((void)random_choice(3, 4, stream, 0), InvalidArgument);
  EXPECT_THROW((void)random_choice(std::size_t{1} << 32, 1, stream, 0), InvalidArgument);
}

TEST(Slots, HoldRecordFindsItOrTakesTheLastSlot) {
  const LabelledSet set = pixel_set(20);
  Slots slots = random_slots(set, 10, kSeed);
  const Slots before = slots;
  EXPECT_EQ(hold_record(slots, set, before.records[3]), 3u);
  EXPECT_EQ(slots.records, before.records);
  std::uint32_t absent = 0;
  while (std::count(before.records.begin(), before.records.end(), absent) > 0) ++absent;
  EXPECT_EQ(hold_record(slots, set, absent), 9u);
  EXPECT_EQ(slots.records[9], absent);
  EXPECT_EQ(slots.labels[9], set.labels[absent]);
  EXPECT_TRUE(std::equal(slots.records.begin(), slots.records.end() - 1, before.records.begin()));
  EXPECT_THROW(hold_record(slots, set, 20), InvalidArgument);
  Slots none;
  EXPECT_THROW(hold_record(none, set, 0), InvalidArgument);
}

TEST(Slots, RemoveEmptiesTheSlot) {
  const LabelledSet set = pixel_set(20);
  const Slots slots = random_slots(set, 10, kSeed);
  const std::vector<std::uint32_t> chosen{4};
  const SlotPair pair = differ(set, slots, chosen, {Adjacency::remove, false}, kSeed, 0);
  EXPECT_EQ(pair.slots.records, slots.records);
  EXPECT_EQ(pair.slots.labels, slots.labels);
  EXPECT_EQ(pair.other, (World{{{4, true, 0, 0}}}));
}

TEST(Slots, ReplaceTakesARecordFromOutside) {
  const LabelledSet set = pixel_set(20);
  const Slots slots = random_slots(set, 10, kSeed);
  const std::vector<std::uint32_t> chosen{8, 2};
  const SlotPair pair = differ(set, slots, chosen, {Adjacency::replace, false}, kSeed, 0);
  ASSERT_EQ(pair.other.changes.size(), 2u);
  EXPECT_EQ(pair.other.changes[0].slot, 2u);
  EXPECT_EQ(pair.other.changes[1].slot, 8u);
  EXPECT_NE(pair.other.changes[0].record, pair.other.changes[1].record);
  for (const SlotChange& change : pair.other.changes) {
    EXPECT_FALSE(change.empty);
    EXPECT_EQ(std::count(slots.records.begin(), slots.records.end(), change.record), 0);
    EXPECT_EQ(change.label, set.labels[change.record]);
  }
  EXPECT_NE(differ(set, slots, chosen, {Adjacency::replace, false}, kSeed, 1).other, pair.other);
}

TEST(Slots, CanariesCarryAnotherClassInD) {
  const LabelledSet set = pixel_set(20);
  const Slots slots = random_slots(set, 10, kSeed);
  const std::vector<std::uint32_t> chosen{0, 9};
  const SlotPair pair = differ(set, slots, chosen, {Adjacency::replace, true}, kSeed, 0);
  for (std::size_t i = 0; i < 10; ++i) {
    if (i == 0 || i == 9) {
      EXPECT_NE(pair.slots.labels[i], slots.labels[i]);
      EXPECT_LT(pair.slots.labels[i], set.classes);
    } else {
      EXPECT_EQ(pair.slots.labels[i], slots.labels[i]);
    }
  }
  for (const SlotChange& change : pair.other.changes) {
    EXPECT_EQ(change.label, set.labels[change.record]);  // the replacement keeps its own
  }
}

TEST(Slots, RandomHalfIsAPartOfTheChanges) {
  const LabelledSet set = pixel_set(300);
  const Slots slots = random_slots(set, 200, kSeed);
  const auto chosen = random_positions(200, 100, kSeed, 0);
  const World all = differ(set, slots, chosen, {Adjacency::remove, true}, kSeed, 0).other;
  const World half = random_half(all, kSeed, 1);
  EXPECT_TRUE(std::includes(all.changes.begin(), all.changes.end(), half.changes.begin(),
                            half.changes.end(),
                            [](const auto& a, const auto& b) { return a.slot < b.slot; }));
  EXPECT_EQ(random_half(all, kSeed, 1), half);
  EXPECT_NE(random_half(all, kSeed, 2), half);
  EXPECT_EQ(random_half({}, kSeed, 1), World{});
}

TEST(Slots, AWorldHasSlotsOfItsOwn) {
  const LabelledSet set = pixel_set(20);
  const Slots slots = random_slots(set, 6, kSeed);
  EXPECT_EQ(own_slots(slots, {}).records, slots.records);
  const World world{{{1, true, 0, 0}, {4, false, 19, 3}}};
  const Slots own = own_slots(slots, world);
  EXPECT_EQ(own.records, (std::vector<std::uint32_t>{slots.records[0], slots.records[2],
                                                     slots.records[3], 19, slots.records[5]}));
  EXPECT_EQ(own.labels, (std::vector<std::uint8_t>{slots.labels[0], slots.labels[2],
                                                   slots.labels[3], 3, slots.labels[5]}));
}

TEST(Slots, DifferRefusals) {
  const LabelledSet set = pixel_set(4);
  const Slots slots = random_slots(set, 3, kSeed);
  const auto refuse = [&](std::vector<std::uint32_t> chosen, Adjacency adjacency) {
    EXPECT_THROW((void)differ(set, slots, chosen, {adjacency, false}, kSeed, 0), InvalidArgument);
  };
  refuse({}, Adjacency::remove);
  refuse({3}, Adjacency::remove);
  refuse({1, 1}, Adjacency::remove);
  refuse({0, 1, 2}, Adjacency::remove);
  refuse({0, 1}, Adjacency::replace);  // one record is outside D
  const std::vector<std::uint32_t> first{0};
  EXPECT_THROW((void)differ(pixel_set(2), slots, first, {}, kSeed, 0), InvalidArgument);
  EXPECT_THROW((void)random_positions(3, 4, kSeed, 0), InvalidArgument);
}

}  // namespace
}  // namespace sfumato::lab
