// Spec §4.3 (1), (2).
#include "sfumato/account/accountant/renyi_conversion.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"

namespace sfumato {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double delta_of(double renyi, double order, double epsilon) {
  return delta_from_renyi(Nats(renyi), order, Epsilon(epsilon)).value.probability();
}
double epsilon_of(double renyi, double order, double delta) {
  return epsilon_from_renyi(Nats(renyi), order, Delta(delta)).value.nats();
}

/// Renyi divergence of N(0, 1) and N(mu, 1).
RenyiCurve shifted(double mu) {
  return [mu](double order) { return Nats(0.5 * order * mu * mu); };
}

TEST(DeltaFromRenyi, MatchesReferencesFromAbove) {
  const auto just_above = [](double value, double exact) {
    EXPECT_GE(value, exact * (1.0 - 3e-16));
    EXPECT_LE(value, exact * (1.0 + 1e-12));
  };
  just_above(delta_of(0.5, 10.0, 2.0), 5.311376396459152063129e-8);   // golden
  just_above(delta_of(0.02, 32.0, 0.5), 4.028202659974617069498e-9);  // golden
  // mpmath, 40 digits: orders near 1 and very large ones
  just_above(delta_of(0.5, 1.0 + 0x1p-20, 2.0), 0.99998439520223857);
  just_above(delta_of(1e-7, 1e6, 1e-5), 1.8458425962415407e-11);
}

TEST(EpsilonFromRenyi, MatchesReferencesFromAbove) {
  EXPECT_NEAR(epsilon_of(0.5, 10.0, 1e-5), 1.418010636783971780558, 1e-13);
  EXPECT_NEAR(epsilon_of(0.02, 32.0, 1e-6), 0.3221150002391147813276, 1e-14);
  EXPECT_GE(epsilon_of(0.5, 10.0, 1e-5), 1.4180106367839717);
}

TEST(RenyiConversion, InvertsItself) {
  const double delta = delta_of(0.3, 7.0, 1.5);
  EXPECT_NEAR(epsilon_of(0.3, 7.0, delta), 1.5, 1e-12);
}

TEST(RenyiConversion, Edges) {
  EXPECT_EQ(delta_of(kInf, 2.0, 1.0), 1.0);
  EXPECT_EQ(delta_of(kInf, 2.0, kInf), 1.0);
  EXPECT_EQ(delta_of(1.0, 2.0, kInf), 0.0);
  EXPECT_EQ(delta_of(100.0, 2.0, 1.0), 1.0);
  EXPECT_GT(delta_of(0.0, 1e5, 100.0), 0.0);  // e^{-1e7} is above 0
  EXPECT_EQ(epsilon_of(0.0, 2.0, 0.9), 0.0);
  EXPECT_EQ(epsilon_of(kInf, 2.0, 1.0), 0.0);
  EXPECT_EQ(epsilon_of(kInf, 2.0, 0.5), kInf);
  EXPECT_EQ(epsilon_of(1.0, 2.0, 0.0), kInf);
}

TEST(RenyiConversion, RefusesOrdersUpToOne) {
  for (const double order : {1.0, 0.5, 0.0, -2.0, kInf, kNan}) {
    EXPECT_THROW((void)delta_from_renyi(Nats(1.0), order, Epsilon(1.0)), InvalidArgument);
    EXPECT_THROW((void)epsilon_from_renyi(Nats(1.0), order, Delta(0.1)), InvalidArgument);
    EXPECT_THROW((void)epsilon_from_renyi_curve(shifted(1.0), Delta(0.1), {order, 10.0}),
                 InvalidArgument);
    EXPECT_THROW((void)epsilon_from_renyi_curve(shifted(1.0), Delta(0.1), {1.5, order}),
                 InvalidArgument);
  }
  EXPECT_THROW((void)epsilon_from_renyi_curve(shifted(1.0), Delta(0.1), {3.0, 2.0}),
               InvalidArgument);
  try {
    (void)delta_from_renyi(Nats(1.0), 1.0, Epsilon(1.0));
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(std::string(error.what()).find("delta_from_renyi: order = 1 is not a finite number"),
              0u)
        << error.what();
  }
}

TEST(RenyiCurve, FindsTheBestOrder) {
  double best_epsilon = kInf;
  for (double order = 1.01; order < 200.0; order += 0.01) {
    const double renyi = 0.5 * order * 0.25;
    best_epsilon = std::min(best_epsilon, epsilon_of(renyi, order, 1e-6));
  }
  const auto epsilon = epsilon_from_renyi_curve(shifted(0.5), Delta(1e-6));
  EXPECT_LE(epsilon.value.nats(), best_epsilon * (1.0 + 1e-9));
  EXPECT_GE(epsilon.value.nats(), best_epsilon * (1.0 - 1e-4));  // the grid is 0.01 wide
  EXPECT_EQ(epsilon.claim, Claim::upper_bound);
  EXPECT_EQ(epsilon.method.find("Renyi divergence, best order "), 0u) << epsilon.method;
}

TEST(RenyiCurve, InfiniteDivergencesAboveSomeOrderAreNoObstacle) {
  const RenyiCurve cut = [](double order) { return Nats(order < 1.5 ? 0.1 * order : kInf); };
  EXPECT_NEAR(epsilon_from_renyi_curve(cut, Delta(1e-3)).value.nats(), epsilon_of(0.15, 1.5, 1e-3),
              1e-3);
  const RenyiCurve none = [](double) { return Nats(kInf); };
  EXPECT_EQ(epsilon_from_renyi_curve(none, Delta(0.1)).value.nats(), kInf);
}

TEST(RenyiCurve, ARangeOfOneOrder) {
  EXPECT_EQ(epsilon_from_renyi_curve(shifted(0.5), Delta(1e-3), {4.0, 4.0}).value,
            epsilon_from_renyi(Nats(0.5), 4.0, Delta(1e-3)).value);
}

}  // namespace
}  // namespace sfumato
