#include "sfumato/audit/roc.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace sfumato {
namespace {

TEST(Roc, TiesAreOnePointAndHalfAWin) {
  const Roc roc({{3.0, 2.0, 2.0}, {2.0, 1.0}});
  ASSERT_EQ(roc.points().size(), 4u);  // nobody, 3, 2, 1
  EXPECT_EQ(roc.points()[2].true_positives, 3u);
  EXPECT_EQ(roc.points()[2].false_positives, 1u);
  // wins 1 + 0.5 + 0.5 against 2, 3 against 1, of 6 pairs
  EXPECT_DOUBLE_EQ(roc.auc(), 5.0 / 6.0);
  EXPECT_DOUBLE_EQ(roc.advantage(), 0.5);
}

TEST(Roc, AucEqualsTheCountOfPairs) {
  std::mt19937_64 engine(3);
  std::uniform_int_distribution<int> score(0, 9);
  for (int i = 0; i < 200; ++i) {
    ScoreSample sample;
    for (int k = 0; k < 15; ++k) sample.with.push_back(score(engine));
    for (int k = 0; k < 11; ++k) sample.without.push_back(score(engine));
    double wins = 0.0;
    for (const double a : sample.with) {
      for (const double b : sample.without) wins += a > b ? 1.0 : a == b ? 0.5 : 0.0;
    }
    EXPECT_NEAR(Roc(sample).auc(), wins / 165.0, 1e-14);
  }
}

TEST(Roc, PointAtCountsInsteadOfRounding) {
  ScoreSample sample;
  for (int i = 0; i < 1000; ++i) {
    sample.with.push_back(i + 0.5);
    sample.without.push_back(i);
  }
  const Roc roc(sample);
  EXPECT_EQ(roc.point_at(0.1).false_positives, 100u);
  EXPECT_EQ(roc.point_at(0.1).true_positives, 101u);
  EXPECT_EQ(roc.point_at(0.0).false_positives, 0u);
  EXPECT_EQ(roc.point_at(0.0).true_positives, 1u);
  EXPECT_EQ(roc.point_at(1.0).true_positives, 1000u);
  const auto few = roc.thinned(50);
  EXPECT_LE(few.size(), 52u);
  EXPECT_EQ(few.back().false_positives, 1000u);
  EXPECT_THROW((void)roc.point_at(1.5), InvalidArgument);
  EXPECT_THROW(Roc({{}, {1.0}}), InvalidArgument);
}

TEST(AucInterval, CoversAndSurvivesOne) {
  std::mt19937_64 engine(11);
  std::normal_distribution<double> normal;
  const double truth = 0.5 * std::erfc(-0.5);  // N(1, 1) against N(0, 1): Phi(1 / sqrt 2)
  int covered = 0;
  for (int i = 0; i < 1000; ++i) {
    ScoreSample sample;
    for (int k = 0; k < 30; ++k) {
      sample.with.push_back(normal(engine) + 1.0);
      sample.without.push_back(normal(engine));
    }
    const ProbabilityInterval interval = auc_interval(Roc(sample).auc(), 30, 30, 0.95);
    covered += interval.lower <= truth && truth <= interval.upper;
  }
  // Approximate method: between 92 % and 98 %, six standard deviations allowed.
  EXPECT_GT(covered, 879);
  EXPECT_LT(covered, 1000);
  const ProbabilityInterval perfect = auc_interval(1.0, 10, 10, 0.95);
  EXPECT_EQ(perfect.upper, 1.0);
  EXPECT_GT(perfect.lower, 0.6);
  EXPECT_LT(perfect.lower, 0.9);
  EXPECT_THROW((void)auc_interval(1.5, 1, 1, 0.95), InvalidArgument);
  EXPECT_THROW((void)auc_interval(0.5, 0, 1, 0.95), InvalidArgument);
  EXPECT_THROW((void)auc_interval(0.5, 1, 1, 0.0), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
