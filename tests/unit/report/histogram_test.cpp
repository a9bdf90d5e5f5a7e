#include "sfumato/report/histogram.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"

namespace sfumato {
namespace {

using Values = std::vector<double>;

Series bins(const Values& values, Scale scale) {
  const Figure figure = histogram("h", "H", {"x", "", scale}, values);
  return figure.series().at(0);
}

TEST(Histogram, LinearEdgesAreRound) {
  const Series series = bins({0.03, 0.52, 0.55, 0.97}, Scale::linear);
  EXPECT_EQ(series.x, (Values{0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0}));
  EXPECT_EQ(series.y, (Values{1, 0, 0, 0, 0, 2, 0, 0, 0, 1}));
}

TEST(Histogram, BinHoldsItsLowerEdgeAndTheLastHoldsBoth) {
  const Series series = bins({0, 1, 2, 10}, Scale::linear);
  EXPECT_EQ(series.x.front(), 0.0);
  EXPECT_EQ(series.x.back(), 10.0);
  EXPECT_EQ(series.y, (Values{1, 1, 1, 0, 0, 0, 0, 0, 0, 1}));
}

TEST(Histogram, LogEdgesAreOneTwoFive) {
  const Series series = bins({0.03, 0.3, 0.5, 1.5}, Scale::log);
  EXPECT_EQ(series.x, (Values{0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0}));
  EXPECT_EQ(series.y, (Values{1, 0, 0, 1, 1, 1}));
}

TEST(Histogram, WideLogRangeUsesDecades) {
  const Series series = bins({1e-9, 2e-5, 3e-1}, Scale::log);
  EXPECT_EQ(series.x, (Values{1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1}));
  EXPECT_EQ(series.y, (Values{1, 0, 0, 0, 1, 0, 0, 0, 1}));
}

TEST(Histogram, ZerosAndInfinitiesHaveTheirBins) {
  const Series series = bins({0.0, 0.0, 1.0, 20.0, kInf}, Scale::log);
  EXPECT_EQ(series.x, (Values{0, 1, 2, 5, 10, 20.000000000000004, kInf}));
  EXPECT_EQ(series.y, (Values{2, 1, 0, 0, 1, 1}));
}

TEST(Histogram, OneValue) {
  const Series series = bins({3.0, 3.0}, Scale::linear);
  ASSERT_EQ(series.y, (Values{2}));
  EXPECT_LT(series.x[0], 3.0);
  EXPECT_GT(series.x[1], 3.0);
}

TEST(Histogram, OnlyInfinities) {
  EXPECT_EQ(bins({kInf, kInf}, Scale::linear).y, (Values{2}));
  EXPECT_EQ(bins({-kInf, kInf, kInf}, Scale::linear).y, (Values{1, 2}));
  EXPECT_EQ(bins({0.0, 0.0}, Scale::log).y, (Values{2}));
}

TEST(Histogram, NoValuesAndNaN) {
  EXPECT_TRUE(histogram("h", "H", {"x"}, {}).series().empty());
  const Values nan{std::numeric_limits<double>::quiet_NaN()};
  EXPECT_THROW((void)histogram("h", "H", {"x"}, nan), InternalError);
}

}  // namespace
}  // namespace sfumato
