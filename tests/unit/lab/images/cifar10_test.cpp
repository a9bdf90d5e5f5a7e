// The real set, as far as it is here; otherwise skipped, with the reason.
#include <gtest/gtest.h>

#include <array>

#include "lab/images/data_sets.hpp"
#include "sfumato/data/checksum.hpp"
#include "support/pixel_statistics.hpp"

namespace sfumato::lab {
namespace {

std::size_t batches_found() {
  const KnownDataSet& known = known_data_set("cifar10");
  std::size_t found = 0;
  while (found < 5 && find_data_file(known, known.files[found], data_places())) ++found;
  return found;
}

TEST(Cifar10, BatchOne) {
  if (batches_found() < 1) GTEST_SKIP() << "data_batch_1.bin is not here";
  const LabelledSet set = load_data_set("cifar10", DataPart::train, 1);
  EXPECT_EQ(set.count(), 10'000u);
  EXPECT_EQ(set.files.size(), 1u);
  EXPECT_EQ(set.checksum, known_data_set("cifar10").files[0].sha256);
  EXPECT_EQ(set.shape, (ImageShape{3, 32, 32}));
  EXPECT_EQ(label_counts(set),
            (std::vector<int>{1005, 974, 1032, 1016, 999, 937, 1030, 1001, 1025, 981}));
}

TEST(Cifar10, MoreRecordsNeedMoreBatches) {
  if (batches_found() < 1) GTEST_SKIP() << "data_batch_1.bin is not here";
  const std::size_t found = batches_found();
  EXPECT_EQ(load_data_set("cifar10", DataPart::train).files.size(), found);
  if (found < 5) {
    EXPECT_THROW((void)load_data_set("cifar10", DataPart::train, 10'000 * found + 1),
                 InvalidArgument);
  }
  EXPECT_THROW((void)load_data_set("cifar10", DataPart::train, 50'001), InvalidArgument);
}

TEST(Cifar10, AllBatches) {
  if (batches_found() < 5) GTEST_SKIP() << "not all training batches are here";
  const LabelledSet set = load_data_set("cifar10", DataPart::train, 40'001);
  EXPECT_EQ(set.files.size(), 5u);
  EXPECT_EQ(label_counts(set), std::vector<int>(10, 5000));
  for (int channel = 0; channel < 3; ++channel) {
    const ChannelStatistics statistics = channel_statistics(set, channel);
    const auto c = static_cast<std::size_t>(channel);
    EXPECT_NEAR(statistics.mean, set.standardisation.means[c], 0.00006);
    EXPECT_NEAR(statistics.deviation, set.standardisation.deviations[c], 0.00006);
  }
}

TEST(Cifar10, TestBatch) {
  const KnownDataSet& known = known_data_set("cifar10");
  if (!find_data_file(known, known.files[5], data_places())) {
    GTEST_SKIP() << "test_batch.bin is not here";
  }
  const LabelledSet set = load_data_set("cifar10", DataPart::test);
  EXPECT_EQ(label_counts(set), std::vector<int>(10, 1000));
}

}  // namespace
}  // namespace sfumato::lab
