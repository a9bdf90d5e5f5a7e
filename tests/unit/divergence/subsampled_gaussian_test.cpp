// Values and edges of Spec §8.7 (3).
#include "sfumato/divergence/subsampled_gaussian.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

TEST(SubsampledGaussian, Values) {
  EXPECT_NEAR(subsampled_gaussian_rdp(0.01, 1.1, 8), 0.0005840703355202512, 1e-17);
  EXPECT_EQ(subsampled_gaussian_rdp(1.0, 2.0, 4), 0.5);
  EXPECT_EQ(subsampled_gaussian_rdp(0.0, 2.0, 4), 0.0);
  // Order 2 in closed form, down to rates where the sum differs from one by less than rounding.
  for (const double q : {1e-12, 1e-6, 0.3}) {
    const double expected = std::log1p(q * q * std::expm1(1.0));
    EXPECT_NEAR(subsampled_gaussian_rdp(q, 1.0, 2), expected, 1e-14 * expected);
  }
  // Close to the full batch, and large orders that overflow without logarithms.
  EXPECT_NEAR(subsampled_gaussian_rdp(1.0 - 1e-13, 2.0, 4), 0.5, 1e-11);
  EXPECT_NEAR(subsampled_gaussian_rdp(0.5, 0.1, 200),
              0.5 * 200 / 0.01 + 200.0 / 199 * std::log(0.5), 1e-8);
}

TEST(SubsampledGaussian, Refusals) {
  EXPECT_THROW((void)subsampled_gaussian_rdp(1.1, 1.0, 2), InvalidArgument);
  EXPECT_THROW((void)subsampled_gaussian_rdp(0.1, 0.0, 2), InvalidArgument);
  EXPECT_THROW((void)subsampled_gaussian_rdp(0.1, 1.0, 1), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
