#include "sfumato/data/labelled_set.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "sfumato/core/error.hpp"
#include "support/temp_dir.hpp"

namespace sfumato {
namespace {

/// Two records of two channels of 1 x 2 pixels.
LabelledSet small_set() {
  LabelledSet set;
  set.name = "small";
  set.shape = {2, 1, 2};
  set.classes = 3;
  set.values = std::vector<std::uint8_t>{0, 255, 51, 102, 1, 2, 3, 4};
  set.labels = {2, 0};
  set.standardisation = {255.0, {0.5, 0.2}, {0.25, 0.1}};
  return set;
}

TEST(LabelledSet, ShapeAndCount) {
  const LabelledSet set = small_set();
  EXPECT_EQ(set.count(), 2u);
  EXPECT_EQ(set.shape.size(), 4u);
  EXPECT_EQ(shape_text(set.shape), "2 x 1 x 2");
  EXPECT_EQ(bytes_of(set, 1)[2], 3);
  require_consistent(set);
}

TEST(LabelledSet, StandardisesByChannel) {
  std::vector<float> inputs(4);
  standardised(small_set(), 0, inputs);
  EXPECT_EQ(inputs[0], -2.0f);
  EXPECT_EQ(inputs[1], 2.0f);
  EXPECT_EQ(inputs[2], 0.0f);  // 51 / 255 = 0.2
  EXPECT_NEAR(inputs[3], 2.0f, 1e-6f);
  EXPECT_THROW(standardised(small_set(), 2, inputs), InvalidArgument);
  inputs.resize(3);
  EXPECT_THROW(standardised(small_set(), 0, inputs), InvalidArgument);
}

TEST(LabelledSet, WithoutConstants) {
  LabelledSet set = small_set();
  set.standardisation = pixels_only();
  std::vector<float> inputs(4);
  standardised(set, 0, inputs);
  EXPECT_EQ(inputs, (std::vector<float>{0.0f, 1.0f, 0.2f, 0.4f}));
}

TEST(LabelledSet, PublishedConstants) {
  EXPECT_EQ(fashion_mnist_standardisation().means, std::vector<double>{0.2860});
  EXPECT_EQ(cifar10_standardisation().deviations, (std::vector<double>{0.2470, 0.2435, 0.2616}));
}

TEST(LabelledSet, Features) {
  LabelledSet set = small_set();
  set.values = std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8};
  set.standardisation = {};
  require_consistent(set);
  EXPECT_THROW((void)bytes_of(set, 0), InternalError);
}

void expect_refused(const LabelledSet& set, const std::string& needle) {
  const std::string message = message_of<InvalidArgument>([&] { require_consistent(set); });
  EXPECT_TRUE(message.starts_with("small: ")) << message;
  EXPECT_NE(message.find(needle), std::string::npos) << message;
}

TEST(LabelledSet, Refusals) {
  LabelledSet set = small_set();
  set.labels[1] = 3;
  expect_refused(set, "the label of record 1 is not one of 0 to 2");
  set = small_set();
  set.labels.push_back(0);
  expect_refused(set, "3 records");
  set = small_set();
  set.labels.clear();
  expect_refused(set, "no record");
  set = small_set();
  set.classes = 1;
  expect_refused(set, "1 classes");
  set = small_set();
  set.shape.height = 0;
  expect_refused(set, "2 x 0 x 2");
  set = small_set();
  set.standardisation.means = {0.5};
  expect_refused(set, "channel");
  set = small_set();
  set.standardisation.deviations = {1.0, 0.0};
  expect_refused(set, "deviation");
  set = small_set();
  set.standardisation.divisor = std::numeric_limits<double>::quiet_NaN();
  expect_refused(set, "divisor");
  set = small_set();
  set.values = std::vector<float>{1, 2, 3, 4, 5, std::numeric_limits<float>::infinity(), 7, 8};
  expect_refused(set, "feature 1 of record 1");
}

}  // namespace
}  // namespace sfumato
