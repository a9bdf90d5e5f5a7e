// Spec §4.1 and Spec §4.2.
#include "sfumato/risk/kl_conversion.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"

namespace sfumato {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double forward(double kl, double epsilon) {
  return delta_from_kl_forward(Nats(kl), Epsilon(epsilon)).value.probability();
}
double reverse(double kl, double epsilon) {
  return delta_from_kl_reverse(Nats(kl), Epsilon(epsilon)).value.probability();
}
double epsilon_forward(double kl, double delta) {
  return epsilon_from_kl_forward(Nats(kl), Delta(delta)).value.nats();
}
double epsilon_reverse(double kl, double delta) {
  return epsilon_from_kl_reverse(Nats(kl), Delta(delta)).value.nats();
}
double tpr_forward(double kl, double rate) { return tpr_from_kl_forward(Nats(kl), rate).value; }
double tpr_reverse(double kl, double rate) { return tpr_from_kl_reverse(Nats(kl), rate).value; }

/// The value is an upper bound on `exact` (given to 17 digits) and hardly above it.
void expect_just_above(double value, double exact) {
  EXPECT_GE(value, exact * (1.0 - 3e-16));
  EXPECT_LE(value, exact * (1.0 + 2e-12));
}

struct Reference {
  double kl, epsilon, forward, reverse;
};

// Dual of Spec §4.2 at its stationary point, equal to the primal value there to 25 digits; mpmath
// with 250 to 1000 digits. The rows up to kl = 5 with short inputs are those of golden.json.
constexpr Reference kReferences[] = {
    {0.05, 0.0, 0.1576730794117661, 0.1576730794117661},
    {0.5, 0.0, 0.485566792472758, 0.485566792472758},
    {0.5, 1.0, 0.2417890360444074, 0.39785289153361714},
    {2.0, 0.5, 0.786937783224759, 0.8646691328338253},
    {5.0, 0.0, 0.9932620530009145, 0.9932620530009145},
    {1e-300, 0.0, 7.0710678118654753e-151, 7.0710678118654753e-151},
    {1e-300, 1.0, 5.7117179782422385e-301, 1.0900362827953956e-300},
    {1e-20, 0.0, 7.0710678118654751e-11, 7.0710678118654751e-11},
    {1e-20, 0.001, 5.0008331944629368e-18, 5.004168194703659e-18},
    {1e-12, 1e-06, 3.6602549057206313e-7, 3.6602568302224908e-7},
    {1e-09, 10.0, 7.9821409874712661e-11, 9.9999999950000006e-10},
    {0.001, 0.5, 0.0010749647250047447, 0.001495443589641002},
    {0.3, 3.0, 0.06560038163621492, 0.25918177931871737},
    {1.0, 100.0, 0.0095551583249661059, 0.63212055882855768},
    {3.0, 1000.0, 0.0029793940925214172, 0.95021293163213606},
    {30.0, 0.0, 0.99999999999990642, 0.99999999999990642},
    {40.0, 10.0, 0.99999999999990642, 1.0},
};

TEST(DeltaFromKl, MatchesReferencesFromAbove) {
  for (const Reference& r : kReferences) {
    SCOPED_TRACE(::testing::Message() << "kl " << r.kl << " epsilon " << r.epsilon);
    expect_just_above(forward(r.kl, r.epsilon), r.forward);
    expect_just_above(reverse(r.kl, r.epsilon), r.reverse);
  }
}

TEST(DeltaFromKl, Edges) {
  for (const double epsilon : {0.0, 1e-300, 1.0, 1000.0, kInf}) {
    EXPECT_EQ(forward(0.0, epsilon), 0.0);
    EXPECT_EQ(reverse(0.0, epsilon), 0.0);
    EXPECT_EQ(forward(kInf, epsilon), 1.0);
    EXPECT_EQ(reverse(kInf, epsilon), 1.0);
  }
  EXPECT_EQ(forward(3.0, kInf), 0.0);
  expect_just_above(reverse(3.0, kInf), -std::expm1(-3.0));
  EXPECT_EQ(forward(1e4, 0.0), 1.0);
  EXPECT_EQ(reverse(1e4, 1000.0), 1.0);
  EXPECT_LT(forward(900.0, 1000.0), 1.0);
}

TEST(DeltaFromKl, NeverRoundsToZero) {
  constexpr double smallest = std::numeric_limits<double>::denorm_min();
  EXPECT_GT(forward(smallest, 1e300), 0.0);
  EXPECT_GT(reverse(smallest, 1e300), 0.0);
  EXPECT_GE(forward(smallest, 0.0), 1.5717e-162);  // sqrt(4.94e-324 / 2) = 1.5717...e-162
  EXPECT_LE(forward(smallest, 0.0), 1.5718e-162);
}

TEST(DeltaFromKl, SaysWhatItIs) {
  const Claimed<Delta> bound = delta_from_kl_forward(Nats(0.5), Epsilon(1.0));
  EXPECT_EQ(bound.claim, Claim::upper_bound);
  EXPECT_EQ(bound.method, "sharp bound from KL, forward");
  ASSERT_EQ(bound.assumptions.size(), 1u);
  EXPECT_EQ(delta_from_kl_reverse(Nats(0.5), Epsilon(1.0)).method, "sharp bound from KL, reverse");
}

TEST(TotalVariationFromKl, SingleBounds) {
  expect_just_above(pinsker_bound(Nats(0.05)).value, 0.15811388300841897);
  expect_just_above(pinsker_bound(Nats(5.0)).value, 1.5811388300841898);
  expect_just_above(bretagnolle_huber_bound(Nats(0.05)).value, 0.22084061107343003);
  expect_just_above(bretagnolle_huber_bound(Nats(5.0)).value, 0.9966253323094464);
  EXPECT_EQ(pinsker_bound(Nats(0.0)).value, 0.0);
  EXPECT_EQ(bretagnolle_huber_bound(Nats(0.0)).value, 0.0);
  EXPECT_EQ(pinsker_bound(Nats(kInf)).value, kInf);
  EXPECT_EQ(bretagnolle_huber_bound(Nats(kInf)).value, 1.0);
}

TEST(TotalVariationFromKl, IsTheSharpBoundAtEpsilonZero) {
  expect_just_above(total_variation_from_kl(Nats(0.5)).value, 0.485566792472758);
  EXPECT_EQ(total_variation_from_kl(Nats(0.0)).value, 0.0);
  EXPECT_EQ(total_variation_from_kl(Nats(kInf)).value, 1.0);
  EXPECT_EQ(total_variation_from_kl(Nats(0.5)).claim, Claim::upper_bound);
}

TEST(EpsilonFromKl, InvertsTheReferences) {
  EXPECT_NEAR(epsilon_forward(0.5, 0.2417890360444074), 1.0, 1e-10);
  EXPECT_NEAR(epsilon_reverse(0.5, 0.39785289153361714), 1.0, 1e-9);
  EXPECT_NEAR(epsilon_forward(1.0, 0.0095551583249661059), 100.0, 1e-8);
}

TEST(EpsilonFromKl, Edges) {
  EXPECT_EQ(epsilon_forward(0.0, 0.0), 0.0);
  EXPECT_EQ(epsilon_reverse(0.0, 0.0), 0.0);
  EXPECT_EQ(epsilon_forward(0.5, 0.5), 0.0);  // above the total variation 0.4856
  EXPECT_EQ(epsilon_reverse(0.5, 0.5), 0.0);
  EXPECT_EQ(epsilon_forward(0.5, 0.0), kInf);
  EXPECT_EQ(epsilon_forward(kInf, 0.999), kInf);
  EXPECT_EQ(epsilon_forward(kInf, 1.0), 0.0);
  EXPECT_EQ(epsilon_reverse(kInf, 1.0), 0.0);
  // 1 - e^{-0.5} = 0.39347: no epsilon reaches less.
  EXPECT_EQ(epsilon_reverse(0.5, 0.3934), kInf);
  EXPECT_LT(epsilon_reverse(0.5, 0.3935), 3.0);
}

TEST(TprFromKl, ClosedCases) {
  // kl(x||1/2) = log 2 - entropy(x): at x = 0.9 it is 0.36806420716849... nats.
  EXPECT_NEAR(tpr_forward(0.36806420716849255, 0.5), 0.9, 1e-11);
  // kl(1/2||y) = -log(4 y (1-y)) / 2 = K, so y = (1 + sqrt(1 - e^{-2K})) / 2.
  expect_just_above(tpr_reverse(0.3, 0.5), 0.5 * (1.0 + std::sqrt(-std::expm1(-0.6))));
  expect_just_above(tpr_reverse(0.3, 0.0), -std::expm1(-0.3));
}

TEST(TprFromKl, Edges) {
  for (const double rate : {0.0, 1e-320, 1e-10, 0.3, 1.0}) {
    EXPECT_EQ(tpr_forward(0.0, rate), rate);
    EXPECT_EQ(tpr_reverse(0.0, rate), rate);
    EXPECT_EQ(tpr_forward(kInf, rate), 1.0);
    EXPECT_EQ(tpr_reverse(kInf, rate), 1.0);
  }
  EXPECT_EQ(tpr_forward(5.0, 0.0), 0.0);
  EXPECT_EQ(tpr_forward(2.0, 0.14), 1.0);  // -log(0.14) = 1.97
  EXPECT_LT(tpr_forward(2.0, 0.13), 1.0);  // -log(0.13) = 2.04
  EXPECT_EQ(tpr_forward(0.5, 1.0), 1.0);
  EXPECT_EQ(tpr_reverse(0.5, 1.0), 1.0);
  EXPECT_GT(tpr_forward(1e-300, 1e-320), 0.0);
}

TEST(TprFromKl, RefusesRatesOutsideTheUnitInterval) {
  for (const double rate : {-1e-9, 1.0 + 1e-9, kNan, kInf}) {
    EXPECT_THROW((void)tpr_from_kl_forward(Nats(1.0), rate), InvalidArgument);
    EXPECT_THROW((void)tpr_from_kl_reverse(Nats(1.0), rate), InvalidArgument);
  }
}

}  // namespace
}  // namespace sfumato
