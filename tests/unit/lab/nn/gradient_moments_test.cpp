#include "lab/nn/gradient_moments.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "sfumato/core/error.hpp"

namespace sfumato::lab {
namespace {

TEST(GradientMoments, AreDebiasedAndGoOn) {
  GradientMoments moments(2, 0.99, 0.25);
  moments.add(std::vector<double>{0.01, 0.5}, std::vector<double>{0.04, 0.04});
  EXPECT_NEAR(moments.second_moments()[0], 0.01, 1e-8);
  EXPECT_NEAR(moments.second_moments()[1], 0.21, 1e-8);
  GradientMoments again(2, 0.99, 0.25);
  again.restore(moments.state());
  EXPECT_EQ(again.second_moments(), moments.second_moments());
  EXPECT_THROW(again.restore(std::vector<double>(3)), InvalidArgument);
  const std::vector<float> shape = moments.shape();
  EXPECT_NEAR(shape[0] + shape[1], 2.0F, 1e-6F);
}

}  // namespace
}  // namespace sfumato::lab
