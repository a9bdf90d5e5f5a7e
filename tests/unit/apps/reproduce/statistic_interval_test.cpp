#include "reproduce/statistic_interval.hpp"

#include <gtest/gtest.h>

#include "sfumato/core/error.hpp"

namespace sfumato::apps {
namespace {

/// One pair whose replicas have these shares of ten records above e^0.1.
ConfidencePair pair_with(const std::vector<int>& tenths) {
  const auto rows = static_cast<Eigen::Index>(tenths.size());
  ConfidencePair pair{Eigen::MatrixXd::Constant(rows, 10, 0.5),
                      Eigen::MatrixXd::Constant(rows, 10, 0.5)};
  for (Eigen::Index r = 0; r < rows; ++r) {
    pair.with.row(r).head(tenths[static_cast<std::size_t>(r)]).setConstant(0.9);
  }
  return pair;
}

TEST(StatisticIntervals, AreAPointWhereModelsAgree) {
  const std::vector<ConfidencePair> pairs(3, pair_with({2, 2, 2}));
  const StatisticIntervals i = statistic_intervals(pairs, Epsilon(0.1), 0.95, 0);
  EXPECT_DOUBLE_EQ(i.mean.lower, 0.2);
  EXPECT_DOUBLE_EQ(i.mean.upper, 0.2);
  EXPECT_DOUBLE_EQ(i.maximum.lower, 0.2);
}

TEST(StatisticIntervals, SpanWhatModelsDisagreeAbout) {
  const std::vector<ConfidencePair> pairs = {pair_with({0, 0, 0, 0}), pair_with({4, 0, 4, 0}),
                                             pair_with({1, 1, 1, 1})};
  const StatisticIntervals i = statistic_intervals(pairs, Epsilon(0.1), 0.95, 7);
  const PaperStatistic statistic = paper_statistic(pairs, Epsilon(0.1));
  EXPECT_LT(i.mean.lower, statistic.mean.value);
  EXPECT_GT(i.mean.upper, statistic.mean.value);
  EXPECT_GT(i.maximum.upper, statistic.maximum.value);  // replicas are drawn again too
  EXPECT_LE(i.maximum.upper, 0.4);
  const StatisticIntervals again = statistic_intervals(pairs, Epsilon(0.1), 0.95, 7);
  EXPECT_EQ(i.maximum.lower, again.maximum.lower);
}

TEST(StatisticIntervals, RefuseNothingAndNonsense) {
  EXPECT_THROW((void)statistic_intervals({}, Epsilon(0.1), 0.95, 0), InvalidArgument);
  const std::vector<ConfidencePair> pairs(1, pair_with({2}));
  EXPECT_THROW((void)statistic_intervals(pairs, Epsilon(0.1), 1.0, 0), InvalidArgument);
}

}  // namespace
}  // namespace sfumato::apps
