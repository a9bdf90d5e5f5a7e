#include "lab/train/parameter_figures.hpp"

#include <gtest/gtest.h>

#include "sfumato/core/error.hpp"

namespace sfumato::lab {
namespace {

const FieldMeaning kMeaning{"noise", "Where", "variance"};

TEST(ParameterFigures, MeansOverTheWeightsOfAPixelAndTheParametersOfALayer) {
  // Two pixels above two, one channel, two outputs: weights (input, output), then biases.
  const Network network({1, 2, 2}, {{"flat", Flatten{}}, {"fc", Linear{2}}});
  const std::vector<Figure> figures =
      parameter_figures(network, {{"a", {1, 3, 0, 2, 5, 5, 0, 0, 10, 20}}}, kMeaning);
  ASSERT_EQ(figures.size(), 2U);
  EXPECT_EQ(figures[0].key(), "noise_by_layer");
  EXPECT_EQ(figures[0].x().categories, (std::vector<std::string>{"fc.weight", "fc.bias"}));
  EXPECT_EQ(figures[0].series()[0].y, (std::vector<double>{2.0, 15.0}));
  const Series& pixels = figures[1].series()[0];
  EXPECT_EQ(figures[1].mark(), Mark::image);
  EXPECT_EQ(pixels.x, (std::vector<double>{0, 1, 0, 1}));
  EXPECT_EQ(pixels.y, (std::vector<double>{0, 0, 1, 1}));
  EXPECT_EQ(pixels.z, (std::vector<double>{2, 1, 5, 0}));
}

TEST(ParameterFigures, NoPixelsWhereTheFirstLayerReadsNone) {
  const Network table({3, 1, 1}, {{"fc", Linear{2}}});
  EXPECT_EQ(parameter_figures(table, {{"a", {1, 2, 3, 4, 5, 6, 7, 8}}}, kMeaning).size(), 1U);
  const Network convolution({1, 2, 2}, {{"c", Conv2d{2, 2}}});
  EXPECT_EQ(
      parameter_figures(convolution, {{"a", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}}}, kMeaning).size(),
      1U);
}

TEST(ParameterFigures, OneNumberPerParameter) {
  const Network network({3, 1, 1}, {{"fc", Linear{2}}});
  EXPECT_THROW((void)parameter_figures(network, {{"a", {1, 2}}}, kMeaning), InternalError);
}

}  // namespace
}  // namespace sfumato::lab
