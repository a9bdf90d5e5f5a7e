#include "sfumato/lab/study/path_kl_risk.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sfumato/core/error.hpp"
#include "sfumato/risk/kl_conversion.hpp"

namespace sfumato::lab {
namespace {

PathKlRisk of(const PathKlRuns& runs) { return PathKlRisk(std::vector{runs}); }

TEST(PathKlRisk, ConvertsTheMeansOfBothDirections) {
  const PathKlRisk risk = of({{{0.1, 0.3}, {0.2, 0.2, 0.2}}});
  const Claimed<Delta> delta = risk.delta(Epsilon(0.5));
  EXPECT_EQ(delta.claim, Claim::estimate);
  EXPECT_NEAR(delta.value.probability(),
              delta_from_kl_forward(Nats(0.2), Epsilon(0.5)).value.probability(), 1e-12);
  EXPECT_EQ(risk.epsilon(Delta(0.1)).claim, Claim::estimate);
  EXPECT_LT(risk.epsilon(Delta(0.2)).value.nats(), risk.epsilon(Delta(0.1)).value.nats());
}

TEST(PathKlRisk, OneInfiniteRunMakesTheDirectionInfinite) {
  const double inf = std::numeric_limits<double>::infinity();
  const PathKlRisk both = of({{{0.1, inf}, {inf, 0.2}}});
  EXPECT_EQ(both.delta(Epsilon(3.0)).value.probability(), 1.0);
  EXPECT_EQ(both.epsilon(Delta(0.5)).value.nats(), inf);
  // One finite direction still says something about total variation.
  const PathKlRisk one = of({{{0.1, 0.1}, {inf, 0.2}}});
  EXPECT_LT(one.delta(Epsilon(0.0)).value.probability(), 1.0);
}

TEST(PathKlRisk, OfSeveralPairsTheWorstCounts) {
  const PathKlRuns small{{{0.1}, {0.1}}}, large{{{0.4}, {0.4}}};
  const PathKlRisk both({small, large, small}), worst = of(large);
  EXPECT_EQ(both.delta(Epsilon(0.3)).value, worst.delta(Epsilon(0.3)).value);
  EXPECT_EQ(both.epsilon(Delta(0.1)).value, worst.epsilon(Delta(0.1)).value);
  EXPECT_NE(both.delta(Epsilon(0.3)).method.find("largest over pairs"), std::string::npos);
}

TEST(PathKlRisk, NeedsRuns) {
  EXPECT_THROW(of({{{}, {1.0}}}), InvalidArgument);
  EXPECT_THROW(PathKlRisk({}), InvalidArgument);
}

}  // namespace
}  // namespace sfumato::lab
