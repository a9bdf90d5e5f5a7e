#include "sfumato/design/noise_shares.hpp"

#include <gtest/gtest.h>

namespace sfumato {
namespace {

const Diagonal kNoise{Eigen::Vector4d(1.0, 4.0, 0.0, 5.0)};

TEST(NoiseShares, LargestCoordinatesFirst) {
  const auto shares = largest_coordinates(kNoise, Isotropic{2.0, 4}, 2);
  ASSERT_EQ(shares.size(), 2U);
  EXPECT_EQ(shares[0].index, 3);
  EXPECT_DOUBLE_EQ(shares[0].share, 0.5);
  EXPECT_EQ(shares[1].index, 1);
  EXPECT_DOUBLE_EQ(shares[1].variance, 4.0);
  EXPECT_EQ(largest_coordinates(kNoise, Isotropic{2.0, 4}, 9).size(), 4U);
}

TEST(NoiseShares, Groups) {
  const auto shares = largest_groups(kNoise, Isotropic{1.0, 4}, {1, 1, 0, 0}, 5);
  ASSERT_EQ(shares.size(), 2U);
  EXPECT_EQ(shares[0].index, 0);  // ties go by index
  EXPECT_DOUBLE_EQ(shares[0].share, 0.5);
  EXPECT_DOUBLE_EQ(shares[1].variance, 2.5);
}

TEST(NoiseShares, DenseWeightsAddUpToOne) {
  const Eigen::MatrixXd w = (Eigen::MatrixXd(2, 2) << 2.0, 0.5, 0.5, 1.0).finished();
  const auto shares = largest_coordinates(Dense{w}, Dense{w}, 2);
  EXPECT_DOUBLE_EQ(shares[0].share + shares[1].share, 1.0);
  EXPECT_DOUBLE_EQ(shares[0].share, 4.25 / 5.5);
}

TEST(NoiseShares, Refuses) {
  EXPECT_THROW((void)largest_coordinates(kNoise, Isotropic{1.0, 3}, 1), InvalidArgument);
  EXPECT_THROW((void)largest_groups(kNoise, Isotropic{1.0, 4}, {0, 1}, 1), InvalidArgument);
  EXPECT_THROW((void)largest_groups(kNoise, Isotropic{1.0, 4}, {0, 1, -1, 0}, 1), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
