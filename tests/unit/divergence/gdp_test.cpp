// Spec §3.1 (1), (2), (3).
#include "sfumato/divergence/gdp.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"

namespace sfumato {
namespace {

TEST(GdpDelta, KeepsItsDigitsForTinyMu) {
  // 60 digits, for the doubles as they are.
  struct Value {
    double mu, eps, log_delta;
  };
  for (const Value& v :
       std::vector<Value>{Value{1e-12, 1e-12, -30.116142141640689565},
                          Value{1e-12, 5e-12, -44.375322278587037289},
                          Value{1e-12, 1e-11, -83.184143152045900038},
                          Value{1e-12, 2e-11, -234.54885962534362985},
                          Value{1e-12, 3.6e-11, -683.71930612088933913},
                          Value{1e-12, 1e-10, -5037.7605999161289061},
                          Value{1e-09, 1e-09, -23.208386862159052431},
                          Value{1e-09, 5e-09, -37.467566997107400128},
                          Value{1e-09, 1e-08, -76.276387868068762805},
                          Value{1e-09, 2e-08, -227.64110433637149232},
                          Value{1e-09, 3.6000000000000005e-08, -676.81155082392532059},
                          Value{1e-09, 1.0000000000000001e-07, -5030.8528445871964516},
                          Value{1e-06, 1e-06, -16.300631083676994831},
                          Value{1e-06, 4.9999999999999996e-06, -30.559809220625380202},
                          Value{1e-06, 9.999999999999999e-06, -69.368627594086748419},
                          Value{1e-06, 1.9999999999999998e-05, -220.73333906738947936},
                          Value{1e-06, 3.6e-05, -669.9037775629433106},
                          Value{1e-06, 9.999999999999999e-05, -5023.9450393582137678},
                          Value{0.001, 0.001, -9.3923763840394126917},
                          Value{0.001, 0.005, -23.649556558688177417},
                          Value{0.001, 0.01, -62.455877437764090211},
                          Value{0.001, 0.02, -213.8155939127929108},
                          Value{0.001, 0.036000000000000004, -662.97804040876921497},
                          Value{0.001, 0.1, -5016.9873342042072939},
                          Value{0.1, 0.1, -4.7384995252199648268},
                          Value{0.1, 0.5, -18.798056703623703013},
                          Value{0.1, 1.0, -57.356933724833951886},
                          Value{0.1, 2.0, -208.22166745915979129},
                          Value{0.1, 3.6, -656.59211817929919211},
                          Value{0.1, 10.0, -5007.4334136434180793},
                          Value{1.0, 1.0, -2.0640664465003905345},
                          Value{1.0, 5.0, -14.361320786606815797},
                          Value{1.0, 10.0, -50.675779079990113643},
                          Value{1.0, 20.0, -197.04222400019839499},
                          Value{1.0, 36.0, -638.2130931195017928},
                          Value{1.0, 100.0, -4960.2545538174207443},
                          Value{4.0, 4.0, -0.26443074411595412842},
                          Value{4.0, 20.0, -7.2238676512759477617},
                          Value{4.0, 40.0, -36.128713973555365281},
                          Value{4.0, 80.0, -167.52166728391200264},
                          Value{4.0, 144.0, -584.69891607613867846},
                          Value{4.0, 400.0, -4810.7428846390086503}}) {
    EXPECT_NEAR(gdp_delta(v.mu, v.eps).log_delta, v.log_delta,
                2e-15 * v.log_delta * v.log_delta + 1e-13)
        << v.mu << " " << v.eps;
  }
}

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
