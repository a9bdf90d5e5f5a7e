#include "reproduce/equal_loss.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sfumato::apps {
namespace {

LossAndAuc point(double loss, double auc, double half = 0.03, double error = 0.0) {
  return {loss, error, auc, {auc - half, auc + half}};
}

TEST(EqualLoss, ComparesWithTheLineInLogarithmOfLoss) {
  const std::vector<LossAndAuc> line = {point(1.0, 0.6),
                                        point(0.01, 0.9)};  // order does not matter
  const auto found = auc_at_equal_loss({point(0.1, 0.7, 0.04)}, line, 1.96);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_DOUBLE_EQ(found[0].loss, 0.1);
  EXPECT_NEAR(found[0].value, 0.7 - 0.75, 1e-12);
  EXPECT_NEAR(found[0].lower, -0.05 - 0.05, 1e-12);  // 3-4-5: squares are added
  EXPECT_NEAR(found[0].upper, -0.05 + 0.05, 1e-12);
}

TEST(EqualLoss, ErrorsOfTheLossCountByTheSlope) {
  const std::vector<LossAndAuc> line = {point(0.01, 0.9, 0.0, 0.0), point(1.0, 0.6, 0.0, 0.0)};
  const auto found = auc_at_equal_loss({point(0.1, 0.75, 0.0, 0.01)}, line, 2.0);
  ASSERT_EQ(found.size(), 1U);
  const double half = 2.0 * (0.3 / std::log(100.0)) * 0.1;  // z, slope, relative error of the loss
  EXPECT_NEAR(found[0].lower, -half, 1e-12);
  EXPECT_NEAR(found[0].upper, half, 1e-12);
}

TEST(EqualLoss, SaysNothingBeyondTheLineOrWithoutLoss) {
  const std::vector<LossAndAuc> line = {point(0.1, 0.9), point(std::nan(""), 0.5), point(1.0, 0.6)};
  EXPECT_TRUE(
      auc_at_equal_loss({point(0.09, 0.7), point(1.1, 0.7), point(std::nan(""), 0.7)}, line, 1.96)
          .empty());
  EXPECT_EQ(auc_at_equal_loss({point(0.1, 0.7), point(1.0, 0.7)}, line, 1.96).size(), 2U);
  EXPECT_TRUE(auc_at_equal_loss({point(0.1, 0.7)}, {}, 1.96).empty());
}

TEST(EqualLoss, OneModelDecidesNothing) {
  const std::vector<LossAndAuc> line = {point(0.1, 0.9), point(1.0, 0.9)};
  const auto found = auc_at_equal_loss({point(0.5, 0.1, 0.0, HUGE_VAL)}, line, 1.96);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].lower, -1.0);
  EXPECT_EQ(found[0].upper, 1.0);
}

}  // namespace
}  // namespace sfumato::apps
