#include "sfumato/design/spread.hpp"

#include <gtest/gtest.h>

namespace sfumato {
namespace {

using Eigen::VectorXd;

VectorXd vec(std::initializer_list<double> values) {
  return Eigen::Map<const VectorXd>(values.begin(), static_cast<Eigen::Index>(values.size()));
}

TEST(Spread, WithoutFloorsSharesAreProportionalToRoots) {
  const Spread spread = spread_budget(vec({10.0, 1.0}), VectorXd::Zero(2), 22.0);
  EXPECT_DOUBLE_EQ(spread.shares(0), 20.0);
  EXPECT_DOUBLE_EQ(spread.shares(1), 2.0);
  EXPECT_DOUBLE_EQ(spread.cost, 121.0 / 22.0);
  EXPECT_FALSE(spread.at_floor.any());
}

TEST(Spread, FloorsThatBindTakeTheirShareFirst) {
  const Spread spread = spread_budget(vec({8.0, 4.0, 0.0}), vec({0.0, 0.0, 3.0}), 9.0);
  EXPECT_DOUBLE_EQ(spread.shares(2), 3.0);
  EXPECT_DOUBLE_EQ(spread.shares(0), 4.0);
  EXPECT_DOUBLE_EQ(spread.shares(1), 2.0);
  EXPECT_DOUBLE_EQ(spread.cost, 16.0 + 8.0);
}

TEST(Spread, OneFloorCanPushAnotherItemToItsOwn) {
  // Without the last item's floor the second would get 2.5; with it, 1.5, below its floor of 2.
  const Spread spread = spread_budget(vec({6.0, 2.0, 2.0}), vec({0.0, 2.0, 4.0}), 10.0);
  EXPECT_DOUBLE_EQ(spread.shares(2), 4.0);
  EXPECT_DOUBLE_EQ(spread.shares(1), 2.0);
  EXPECT_DOUBLE_EQ(spread.shares(0), 4.0);
}

TEST(Spread, FloorsThatTakeEverything) {
  const Spread spread = spread_budget(vec({1.0, 5.0}), vec({3.0, 1.0}), 4.0);
  EXPECT_DOUBLE_EQ(spread.shares(0), 3.0);
  EXPECT_DOUBLE_EQ(spread.shares(1), 1.0);
}

TEST(Spread, NothingToHideGetsNothing) {
  const Spread spread = spread_budget(vec({0.0, 5.0}), VectorXd::Zero(2), 4.0);
  EXPECT_EQ(spread.shares(0), 0.0);
  EXPECT_DOUBLE_EQ(spread.cost, 25.0 / 4.0);
}

}  // namespace
}  // namespace sfumato
