// Values and edges of Spec §8.4.
#include "sfumato/divergence/noisy_gd_gdp.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"
#include "support/just_above.hpp"

namespace sfumato {
namespace {

TEST(NoisyGdGdp, Values) {
  testing::expect_just_above(noisy_gd_gdp(0.1, 0.9, 50).mu.value, 0.4336491750260249);
  testing::expect_just_above(noisy_gd_gdp(0.1, 1.0, 50).mu.value, 0.7071067811865476);
  EXPECT_NEAR(noisy_gd_gdp(0.04, 0.99, 1000).kl.value.value(),
              0.5 * 0.5642450794968777 * 0.5642450794968777, 1e-14);
}

TEST(NoisyGdGdp, Edges) {
  testing::expect_just_above(noisy_gd_gdp(0.3, 0.0, 7).mu.value, 0.3);
  EXPECT_EQ(noisy_gd_gdp(0.3, 0.5, 0).mu.value, 0.0);
  testing::expect_just_above(noisy_gd_gdp(0.3, 0.5, 1).mu.value, 0.3);
  EXPECT_EQ(noisy_gd_gdp(0.0, 1.0, kInf).mu.value, 0.0);
  testing::expect_just_above(noisy_gd_gdp(1.0, 0.6, kInf).mu.value, 2.0);
  EXPECT_EQ(noisy_gd_gdp(1.0, 1.0, kInf).mu.value, kInf);
  // Close to one: approaches sqrt(k) and never exceeds it.
  const double near = noisy_gd_gdp(1.0, 1.0 - 1e-14, 1e6).mu.value;
  EXPECT_NEAR(near, 1e3, 1e-8);
  EXPECT_LE(near, 1e3 * (1.0 + 1e-13));
}

TEST(NoisyGdGdp, ExpansiveStepsCostTheComposition) {
  const GdpBound bound = noisy_gd_gdp(1.0, 1.5, 4);
  testing::expect_just_above(bound.mu.value, 2.0);
  ASSERT_EQ(bound.mu.assumptions.size(), 2U);
  EXPECT_NE(bound.mu.assumptions[1].find("constant 1 is used"), std::string::npos);
}

TEST(NoisyGdGdp, Refusals) {
  EXPECT_THROW((void)noisy_gd_gdp(-1.0, 0.5, 1), InvalidArgument);
  EXPECT_THROW((void)noisy_gd_gdp(1.0, -0.5, 1), InvalidArgument);
  EXPECT_THROW((void)noisy_gd_gdp(1.0, 0.5, 1.5), InvalidArgument);
  EXPECT_THROW((void)noisy_gd_gdp(1.0, 0.5, -1), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
