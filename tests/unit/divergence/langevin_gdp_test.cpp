// Values and edges of Spec §6.4.
#include "sfumato/divergence/langevin_gdp.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"
#include "support/just_above.hpp"

namespace sfumato {
namespace {

TEST(LangevinGdp, Values) {
  const GdpBound bound = langevin_gdp(1.0, 1.0, 0.7);
  testing::expect_just_above(bound.mu.value, 0.8202140505213651);
  testing::expect_just_above(bound.kl.value.value(), 0.3363755443363322);
  EXPECT_EQ(bound.mu.claim, Claim::upper_bound);
  testing::expect_just_above(langevin_gdp(0.5, 0.0, 4.0).mu.value, 1.0);
}

TEST(LangevinGdp, Edges) {
  testing::expect_just_above(langevin_gdp(2.0, 2.0, kInf).mu.value, 2.0);
  EXPECT_EQ(langevin_gdp(2.0, 0.0, kInf).mu.value, kInf);
  EXPECT_EQ(langevin_gdp(0.0, 0.0, kInf).mu.value, 0.0);
  EXPECT_EQ(langevin_gdp(kInf, 1.0, 0.0).mu.value, 0.0);
  // Continuous in kappa at zero, from below the path value.
  testing::expect_just_above(langevin_gdp(1.0, 1e-300, 9.0).mu.value, 3.0);
  EXPECT_NEAR(langevin_gdp(1.0, 1e-7, 1.0).mu.value, 1.0, 1e-14);
}

TEST(LangevinGdp, NegativeRateIsReplacedByZeroAndSaidSo) {
  const GdpBound bound = langevin_gdp(1.0, -3.0, 4.0);
  testing::expect_just_above(bound.mu.value, 2.0);
  ASSERT_EQ(bound.mu.assumptions.size(), 2U);
  EXPECT_NE(bound.mu.assumptions[1].find("rate 0 is used"), std::string::npos);
}

TEST(LangevinGdp, Refusals) {
  EXPECT_THROW((void)langevin_gdp(-1.0, 1.0, 1.0), InvalidArgument);
  EXPECT_THROW((void)langevin_gdp(1.0, kInf, 1.0), InvalidArgument);
  EXPECT_THROW((void)langevin_gdp(1.0, 1.0, std::nan("")), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
