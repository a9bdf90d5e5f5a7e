#include "sfumato/study/odometer_risk.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sfumato/core/error.hpp"
#include "sfumato/privacy/kl_conversion.hpp"

namespace sfumato {
namespace {

TEST(OdometerRisk, ConvertsTheMeansOfBothDirections) {
  const OdometerRisk risk({{{0.1, 0.3}, {0.2, 0.2, 0.2}}});
  EXPECT_NEAR(risk.kl(Direction::forward).value, 0.2, 1e-15);
  EXPECT_NEAR(risk.kl(Direction::reverse).value, 0.2, 1e-15);
  const Claimed<Delta> delta = risk.delta(Epsilon(0.5));
  EXPECT_EQ(delta.claim, Claim::estimate);
  EXPECT_NEAR(delta.value.probability(),
              delta_from_kl_forward(Nats(0.2), Epsilon(0.5)).value.probability(), 1e-12);
  EXPECT_EQ(risk.epsilon(Delta(0.1)).claim, Claim::estimate);
  EXPECT_LT(risk.epsilon(Delta(0.2)).value.nats(), risk.epsilon(Delta(0.1)).value.nats());
}

TEST(OdometerRisk, OneInfiniteRunMakesTheDirectionInfinite) {
  const double inf = std::numeric_limits<double>::infinity();
  const OdometerRisk both({{{0.1, inf}, {inf, 0.2}}});
  EXPECT_EQ(both.infinite_runs(Direction::forward), 1U);
  EXPECT_EQ(both.delta(Epsilon(3.0)).value.probability(), 1.0);
  EXPECT_EQ(both.epsilon(Delta(0.5)).value.nats(), inf);
  // One finite direction still says something about total variation.
  const OdometerRisk one({{{0.1, 0.1}, {inf, 0.2}}});
  EXPECT_LT(one.delta(Epsilon(0.0)).value.probability(), 1.0);
}

TEST(OdometerRisk, NeedsRuns) { EXPECT_THROW(OdometerRisk({{{}, {1.0}}}), InvalidArgument); }

}  // namespace
}  // namespace sfumato
