// Spec §11.1.
#include "reproduce/paper_statistic.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "sfumato/core/error.hpp"

namespace sfumato::apps {
namespace {

using Eigen::MatrixXd;

TEST(PaperStatistic, CountsRatiosPerPair) {
  ConfidencePair first{MatrixXd(2, 3), MatrixXd(2, 3)};
  first.with << 0.9, 0.5, 0.2, 0.8, 0.5, 0.0;
  first.without << 0.1, 0.5, 0.4, 0.0, 0.4, 0.0;
  ConfidencePair second{MatrixXd::Constant(2, 3, 0.5), MatrixXd::Constant(2, 3, 0.5)};
  const std::vector<ConfidencePair> pairs = {first, second};
  const PaperStatistic statistic = paper_statistic(pairs, Epsilon(0.5));
  // 9 and 0.8/0 are above e^0.5; 0.5/0.4 is not, nor 0/0. Divided by T2 N = 6.
  EXPECT_EQ(statistic.pairs, (std::vector<double>{2.0 / 6.0, 0.0}));
  EXPECT_DOUBLE_EQ(statistic.mean.value, 1.0 / 6.0);
  EXPECT_DOUBLE_EQ(statistic.maximum.value, 1.0 / 3.0);
  EXPECT_EQ(statistic.maximum.claim, Claim::estimate);
  EXPECT_FALSE(statistic.maximum.assumptions.empty());
}

/// A trainer that ignores its data, with other seeds in the other world: delta is 0, the statistic is not.
TEST(PaperStatistic, IsLargeForADataIndependentTrainer) {
  std::mt19937_64 engine(1);
  std::uniform_real_distribution<double> uniform;
  const auto draw = [&] {
    return MatrixXd(MatrixXd::NullaryExpr(10, 100, [&] { return uniform(engine); }));
  };
  const ConfidencePair pair{draw(), draw()};
  // P[U / V > e^0.1] = e^-0.1 / 2 = 0.452; standard deviation 0.016
  EXPECT_NEAR(paper_statistic(std::span(&pair, 1), Epsilon(0.1)).maximum.value, 0.452, 0.08);
}

TEST(PaperStatistic, Refusals) {
  const ConfidencePair shapes{MatrixXd::Zero(1, 2), MatrixXd::Zero(2, 1)};
  const ConfidencePair empty{MatrixXd(0, 2), MatrixXd(0, 2)};
  const ConfidencePair beyond{MatrixXd::Constant(1, 1, 1.5), MatrixXd::Zero(1, 1)};
  const ConfidencePair nan{MatrixXd::Constant(1, 1, NAN), MatrixXd::Zero(1, 1)};
  for (const ConfidencePair& pair : {shapes, empty, beyond, nan}) {
    EXPECT_THROW((void)paper_statistic(std::span(&pair, 1), Epsilon(0.1)), InvalidArgument);
  }
  EXPECT_THROW((void)paper_statistic({}, Epsilon(0.1)), InvalidArgument);
}

}  // namespace
}  // namespace sfumato::apps
