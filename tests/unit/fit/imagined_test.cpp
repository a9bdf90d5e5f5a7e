#include "sfumato/fit/imagined.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "support/synthetic_table.hpp"

namespace sfumato {
namespace {

TEST(ImaginedTable, HasAnInterceptEqualLevelsAndNumbersThatFallLikeSquares) {
  const PublicTable table = declared_table(100);
  const ImaginedTable imagined = imagined_table(table, FitModel::ridge, table.bound());
  // Two numbers fill 2/3, as 4 to 1; three of four levels a quarter each.
  const Eigen::VectorXd expected =
      (Eigen::VectorXd(6) << 1.0, 8.0 / 15.0, 0.25, 0.25, 0.25, 2.0 / 15.0).finished();
  EXPECT_TRUE(imagined.eigenvalues.isApprox(expected, 1e-14));
  EXPECT_NEAR(imagined.row_length, std::sqrt(expected.sum()), 1e-14);
  // The signal has the deviation of the target, 2/4, and follows the roots.
  const Eigen::ArrayXd signal = imagined.eigenvalues.array() * imagined.optimum.array().square();
  EXPECT_NEAR(signal.sum(), 0.25, 1e-14);
  EXPECT_NEAR(signal(0) / signal(2), 2.0, 1e-13);
}

TEST(ImaginedTable, IsNoLongerThanTheBoundOfItsRows) {
  const ImaginedTable imagined = imagined_table(declared_table(100), FitModel::ridge, 0.5);
  EXPECT_NEAR(imagined.row_length, 0.5, 1e-14);
}

TEST(ImaginedClipping, SlowsAndShiftsAsSpec227Says) {
  const PublicTable table = declared_table(1000);
  const auto at = [&](double clip_factor) {
    return imagined_clipping(table, FitModel::ridge, clip_factor);
  };
  EXPECT_NEAR(at(0.25).slower, 0.6826894921370859, 1e-14);  // P(|n| < 1)
  // 2 phi(1) / 6 / P(|n| < 1), squared.
  EXPECT_NEAR(at(0.25).bias, std::pow(2.0 * 0.24197072451914337 / 6.0 / 0.6826894921370859, 2),
              1e-14);
  EXPECT_NEAR(at(1e-4).bias, 1.0 / 36.0, 1e-6);  // the median, a sixth of a deviation away
  EXPECT_LT(at(2.0).bias, 1e-12);
}

}  // namespace
}  // namespace sfumato
