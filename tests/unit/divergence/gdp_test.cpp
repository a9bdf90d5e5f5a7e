// Spec §3.1 (1), (2), (3).
#include "sfumato/divergence/gdp.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace sfumato {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(Gdp, ZeroEpsilonIsTotalVariation) {
  for (const double mu : {1e-12, 1e-6, 0.01, 0.0999, 0.1001, 1.0, 5.0}) {
    const double tv = std::erf(mu / (2.0 * std::numbers::sqrt2));
    EXPECT_NEAR(gdp_delta(mu, 0.0).delta / tv, 1.0, 1e-13) << "mu = " << mu;
  }
}

TEST(Gdp, TinyShiftKeepsItsDigits) {
  // mpmath, 50 digits: mu = eps = 1e-9
  EXPECT_NEAR(gdp_delta(1e-9, 1e-9).delta / 8.3315470629344034e-11, 1.0, 1e-12);
}

TEST(Gdp, LogDeltaSurvivesUnderflow) {
  const GdpDelta d = gdp_delta(1.0, 60.0);
  EXPECT_EQ(d.delta, 0.0);
  EXPECT_NEAR(d.log_delta, -1779.2333908700934, 1e-9);  // mpmath, 50 digits
}

TEST(Gdp, Edges) {
  EXPECT_EQ(gdp_delta(0.0, 1.0).delta, 0.0);
  EXPECT_DOUBLE_EQ(gdp_delta(0.0, -1.0).delta, -std::expm1(-1.0));
  EXPECT_EQ(gdp_delta(kInf, 3.0).delta, 1.0);
  EXPECT_THROW((void)gdp_delta(-1.0, 0.0), InvalidArgument);
  EXPECT_THROW((void)gdp_delta(1.0, std::nan("")), InvalidArgument);
}

TEST(Gdp, EpsilonInvertsDelta) {
  for (const double mu : {0.01, 0.3, 1.0, 4.0}) {
    for (const double delta : {1e-12, 1e-5, 0.001}) {
      const double eps = gdp_epsilon(mu, Delta(delta)).nats();
      if (eps > 0.0) {
        EXPECT_NEAR(gdp_delta(mu, eps).delta / delta, 1.0, 1e-9);
      } else {
        EXPECT_LE(gdp_delta(mu, 0.0).delta, delta);
      }
    }
  }
  EXPECT_EQ(gdp_epsilon(1.0, Delta(0.5)).nats(), 0.0);  // already delta(0) < 0.5
  EXPECT_EQ(gdp_epsilon(1.0, Delta(0.0)).nats(), kInf);
  EXPECT_EQ(gdp_epsilon(0.0, Delta(0.0)).nats(), 0.0);
}

}  // namespace
}  // namespace sfumato
