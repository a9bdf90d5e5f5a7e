#include "lab/nn/record_store.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace sfumato::lab {
namespace {

LabelledSet pictures(int channels, unsigned black, std::size_t count = 5) {
  LabelledSet set;
  set.name = "pictures";
  set.shape = {channels, 9, 8};
  set.classes = 2;
  set.standardisation = {255.0, {0.4, 0.5}, {0.3, 0.2}};
  set.standardisation.means.resize(static_cast<std::size_t>(channels));
  set.standardisation.deviations.resize(static_cast<std::size_t>(channels));
  std::mt19937 generator(1);
  std::vector<std::uint8_t> values(count * set.shape.size());
  for (auto& v : values) {
    v = generator() % 8 < black ? std::uint8_t{0} : static_cast<std::uint8_t>(generator());
  }
  set.values = std::move(values);
  set.labels.assign(count, 0);
  return set;
}

/// Pixel by pixel, channels fastest.
std::vector<float> expected(const LabelledSet& set, std::size_t record) {
  const std::size_t size = set.shape.size(),
                    channels = static_cast<std::size_t>(set.shape.channels);
  std::vector<float> planes(size), pixels(size);
  standardised(set, record, planes);
  for (std::size_t i = 0; i < size; ++i) {
    pixels[i % (size / channels) * channels + i / (size / channels)] = planes[i];
  }
  return pixels;
}

TEST(RecordStore, InputsAreStandardisedPixels) {
  for (const int channels : {1, 2}) {
    const LabelledSet set = pictures(channels, 0);
    const std::vector<std::uint32_t> records = {3, 0, 3};
    const RecordStore store(set, records);
    EXPECT_FALSE(store.sparse());
    EXPECT_EQ(store.count(), 3U);
    std::vector<float> room(set.shape.size() + 8);
    for (std::size_t r = 0; r < 3; ++r) {
      const std::vector<float> exact = expected(set, records[r]);
      const float* got = store.inputs(r, room.data());
      for (std::size_t i = 0; i < exact.size(); ++i) EXPECT_NEAR(got[i], exact[i], 4e-7F);
    }
  }
}

TEST(RecordStore, LargeSetsStayBytes) {
  // More than eight megabytes as floats, so that they are expanded when asked for.
  const LabelledSet set = pictures(1, 4);
  std::vector<std::uint32_t> records(40'000, 2);
  const RecordStore large(set, records), small(set, std::vector<std::uint32_t>{2});
  std::vector<float> room(80), other(80);
  const float* got = large.inputs(39'999, room.data());
  const float* kept = small.inputs(0, other.data());
  EXPECT_EQ(got, room.data());
  EXPECT_NE(kept, other.data());
  const kernel::SparseRow a = large.sparse_row(39'999, room.data());
  const kernel::SparseRow b = small.sparse_row(0, other.data());
  for (std::size_t i = 0; i < 72; ++i) EXPECT_EQ(a.values[i], b.values[i]);
}

TEST(RecordStore, SparseRowsAreInputsLessTheShift) {
  for (const int channels : {1, 2}) {
    const LabelledSet set = pictures(channels, 4);
    const RecordStore store(set, std::vector<std::uint32_t>{0, 1, 2, 3, 4});
    ASSERT_TRUE(store.sparse());
    const std::size_t size = set.shape.size();
    std::vector<float> room(size + 8), shifted(size + 8);
    for (std::size_t r = 0; r < 5; ++r) {
      const kernel::SparseRow row = store.sparse_row(r, room.data());
      const float* inputs = store.inputs(r, shifted.data());
      for (std::size_t i = 0; i < size; ++i) {
        EXPECT_NEAR(row.values[i] + store.shift()[i], inputs[i], 4e-7F);
        EXPECT_EQ((row.positions[i / 64] >> i % 64 & 1) != 0, row.values[i] != 0.0F);
        if (row.values[i] != 0.0F) {
          const std::size_t group = i / kernel::kPositionGroup;
          EXPECT_TRUE(row.groups[group / 64] >> group % 64 & 1);
        }
      }
    }
  }
}

TEST(RecordStore, TablesAreKeptAsTheyAre) {
  LabelledSet set;
  set.name = "table";
  set.shape = {3, 1, 1};
  set.classes = 2;
  set.values = std::vector<float>{1, 2, 3, 4, 5, 6};
  set.labels = {0, 1};
  const RecordStore store(set, std::vector<std::uint32_t>{1});
  EXPECT_FALSE(store.sparse());
  const float* got = store.inputs(0, nullptr);
  EXPECT_EQ(std::vector<float>(got, got + 3), (std::vector<float>{4, 5, 6}));
  EXPECT_THROW(RecordStore(set, std::vector<std::uint32_t>{2}), InvalidArgument);
}

}  // namespace
}  // namespace sfumato::lab
