#include "lab/nn/batches.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "support/temp_dir.hpp"

namespace sfumato::lab {
namespace {

std::vector<std::uint32_t> copy(std::span<const std::uint32_t> batch) {
  return {batch.begin(), batch.end()};
}

TEST(Batches, AreFixedByTheirSeed) {
  // Computed by an independent program from the layout in stream.hpp and batches.hpp. A change of
  // them is a change of every study.
  EXPECT_EQ(copy(BatchSampler(BatchScheme::shuffled, 10, 3, 1).batch(4)),
            (std::vector<std::uint32_t>{6, 8, 4}));
  EXPECT_EQ(copy(BatchSampler(BatchScheme::with_replacement, 10, 3, 1).batch(4)),
            (std::vector<std::uint32_t>{9, 8, 6}));
  EXPECT_EQ(copy(BatchSampler(BatchScheme::poisson, 10, 3, 1).batch(11)),
            (std::vector<std::uint32_t>{2, 5, 6, 7, 8}));
  EXPECT_EQ(copy(BatchSampler(BatchScheme::fixed_size, 10, 3, 1).batch(4)),
            (std::vector<std::uint32_t>{7, 3, 0}));
}

TEST(Batches, FullBatchIsAllSlotsInOrder) {
  BatchSampler sampler(BatchScheme::shuffled, 5, 5, 1);
  EXPECT_EQ(sampler.steps_per_epoch(), 1u);
  for (const std::uint64_t step : {0u, 1u, 77u}) {
    EXPECT_EQ(copy(sampler.batch(step)), (std::vector<std::uint32_t>{0, 1, 2, 3, 4}));
  }
}

TEST(Batches, IncompleteBatchIsLeftOut) {
  BatchSampler sampler(BatchScheme::shuffled, 11, 3, 5);
  EXPECT_EQ(sampler.steps_per_epoch(), 3u);
  std::set<std::uint32_t> seen;
  for (std::uint64_t step = 3; step < 6; ++step) {
    for (const std::uint32_t slot : sampler.batch(step)) EXPECT_TRUE(seen.insert(slot).second);
  }
  EXPECT_EQ(seen.size(), 9u);
}

TEST(Batches, ShuffledAllEndsWithAShortBatch) {
  BatchSampler sampler(BatchScheme::shuffled_all, 11, 3, 5);
  EXPECT_EQ(sampler.steps_per_epoch(), 4u);
  for (const std::uint64_t epoch : {0u, 1u, 9u}) {
    std::set<std::uint32_t> seen;
    for (std::uint64_t step = 4 * epoch; step < 4 * epoch + 4; ++step) {
      EXPECT_EQ(sampler.batch(step).size(), step % 4 == 3 ? 2u : 3u);
      EXPECT_EQ(sampler.nominal_size(step), sampler.batch(step).size());
      for (const std::uint32_t slot : sampler.batch(step)) EXPECT_TRUE(seen.insert(slot).second);
    }
    EXPECT_EQ(seen.size(), 11u);
  }
  EXPECT_NE(copy(sampler.batch(0)), copy(BatchSampler(sampler).batch(4)));
  // As many batches as shuffled where nothing is left; one of all slots where they are too few.
  EXPECT_EQ(steps_per_epoch(BatchScheme::shuffled_all, 12, 3), 4u);
  BatchSampler few(BatchScheme::shuffled_all, 5, 6, 1);
  EXPECT_EQ(few.steps_per_epoch(), 1u);
  EXPECT_EQ(copy(few.batch(3)), (std::vector<std::uint32_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(few.nominal_size(3), 5u);
  EXPECT_EQ(BatchSampler(BatchScheme::poisson, 50, 20, 1).nominal_size(7), 20u);
}

TEST(Batches, PoissonWithTheFullRateIsEverything) {
  BatchSampler sampler(BatchScheme::poisson, 50, 50, 1);
  EXPECT_EQ(sampler.batch(3).size(), 50u);
}

TEST(Batches, OfAKeyAreItsOwnAndTheSameEveryTime) {
  const auto key = std::make_shared<const ReleaseKey>(ReleaseKey::from_seed(7));
  for (const BatchScheme scheme : {BatchScheme::shuffled, BatchScheme::with_replacement,
                                   BatchScheme::poisson, BatchScheme::fixed_size}) {
    BatchSampler keyed(scheme, 1000, 200, key), again(scheme, 1000, 200, key);
    BatchSampler seeded(scheme, 1000, 200, std::uint64_t{7});
    const auto later = copy(again.batch(9));
    const auto first = copy(keyed.batch(0));
    EXPECT_EQ(first, copy(again.batch(0))) << name(scheme);
    EXPECT_EQ(copy(keyed.batch(9)), later) << name(scheme);
    EXPECT_NE(first, later) << name(scheme);
    EXPECT_NE(first, copy(seeded.batch(0))) << name(scheme);
    if (scheme == BatchScheme::with_replacement) continue;
    EXPECT_EQ(std::set<std::uint32_t>(first.begin(), first.end()).size(), first.size());
  }
  EXPECT_EQ(BatchSampler(BatchScheme::full, 20, 20, key).batch(3).size(), 20U);
}

TEST(Batches, WithReplacementMayExceedTheSlots) {
  BatchSampler sampler(BatchScheme::with_replacement, 2, 20, 1);
  EXPECT_EQ(sampler.batch(0).size(), 20u);
  EXPECT_EQ(sampler.steps_per_epoch(), 1u);
}

TEST(Batches, Refusals) {
  for (const BatchScheme scheme :
       {BatchScheme::shuffled, BatchScheme::with_replacement, BatchScheme::poisson}) {
    EXPECT_THROW(BatchSampler(scheme, 0, 1, 1), InvalidArgument);
    EXPECT_THROW(BatchSampler(scheme, std::size_t{1} << 32, 1, 1), InvalidArgument);
    EXPECT_THROW(BatchSampler(scheme, 5, 0, 1), InvalidArgument);
  }
  const std::string message =
      message_of<InvalidArgument>([] { BatchSampler(BatchScheme::shuffled, 5, 6, 1); });
  EXPECT_NE(message.find("the batch size 6 is larger than the data, 5 records"), std::string::npos)
      << message;
  EXPECT_THROW(BatchSampler(BatchScheme::poisson, 5, 6, 1), InvalidArgument);
  EXPECT_THROW(BatchSampler(BatchScheme::fixed_size, 5, 6, 1), InvalidArgument);
  EXPECT_THROW(BatchSampler(BatchScheme::full, 5, 4, 1), InvalidArgument);
}

}  // namespace
}  // namespace sfumato::lab
