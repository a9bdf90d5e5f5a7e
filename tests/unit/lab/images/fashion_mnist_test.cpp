// The real set, where it is installed; otherwise skipped, with the reason.
#include <gtest/gtest.h>

#include "lab/images/data_sets.hpp"
#include "support/pixel_statistics.hpp"

namespace sfumato::lab {
namespace {

TEST(FashionMnist, IsTheOneThatWasPublished) {
  const KnownDataSet& known = known_data_set("fashion-mnist");
  for (const DataFile& file : known.files) {
    if (!find_data_file(known, file, data_places())) GTEST_SKIP() << file.name << " is not here";
  }
  const LabelledSet train = load_data_set("fashion-mnist", DataPart::train, 60'000);
  EXPECT_EQ(train.count(), 60'000u);
  EXPECT_EQ(train.shape, (ImageShape{1, 28, 28}));
  EXPECT_EQ(train.classes, 10);
  EXPECT_EQ(label_counts(train), std::vector<int>(10, 6000));
  EXPECT_EQ(train.labels[0], 9);  // an ankle boot
  // The public constants are those of the training images, to the digits given.
  const ChannelStatistics statistics = channel_statistics(train, 0);
  EXPECT_NEAR(statistics.mean, train.standardisation.means[0], 0.00006);
  EXPECT_NEAR(statistics.deviation, train.standardisation.deviations[0], 0.00006);

  const LabelledSet test = load_data_set("fashion-mnist", DataPart::test);
  EXPECT_EQ(test.count(), 10'000u);
  EXPECT_EQ(label_counts(test), std::vector<int>(10, 1000));
  EXPECT_NE(test.checksum, train.checksum);
  EXPECT_THROW((void)load_data_set("fashion-mnist", DataPart::test, 10'001), InvalidArgument);
}

}  // namespace
}  // namespace sfumato::lab
