// K(s) is as near to the truth as it says. References: the trapezoidal rule in ball arithmetic, 400 bits.
#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/account/accountant/profile.hpp"

namespace sfumato {
namespace {

TEST(PlainTransform, TheErrorOfItsCumulantHoldsWhereNodesAreLeftOut) {
  // From s = 70 on the nodes in the middle of nowhere are left out, and the sum is that of its terms instead of their changes from 1: its rounding
  // is then relative to 1, times 52,650 steps.
  const TotalLoss loss{{SampledGaussian{0.0004912182150546228, 1.0 / 5.746500461162353, 52650,
                                        StepDirection::replace}}};
  struct Value {
    double s, cumulant;
  };
  for (const auto& [s, expected] :
       {Value{20.0, 0.3232060415221673283195}, Value{50.0, 1.962323684232845027868},
        Value{70.0, 3.824610192462287691205}, Value{90.0, 6.302532915114960810218},
        Value{120.0, 11.17374317607649961657}}) {
    const TotalCumulant found = cumulant(loss, s);
    EXPECT_LE(std::fabs(found.value - expected), found.error) << s;
    EXPECT_LT(found.error, 1e-9) << s;
  }
}

TEST(PlainTransform, TheErrorOfItsCumulantIsInTheEnclosure) {
  // Both were up to 1.4e-11 of delta above the truth at their lower ends.
  const DeltaEnclosure first =
      delta_of({{SampledGaussian{0.0004912182150546228, 1.0 / 5.746500461162353, 52650,
                                 StepDirection::replace}}},
               0.10853844911017531);
  EXPECT_LE(first.log.log_lo, -10.25344414395384101243672);
  EXPECT_GE(first.log.log_hi, -10.25344414395384101243672);
  const DeltaEnclosure second = delta_of({{SampledGaussian{0.001, 2.0, 1e7}}}, 500.0);
  EXPECT_LE(second.log.log_lo, -78.0797332005670972777287);
  EXPECT_GE(second.log.log_hi, -78.0797332005670972777287);
}

}  // namespace
}  // namespace sfumato
